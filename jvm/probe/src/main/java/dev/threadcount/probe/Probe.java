package dev.threadcount.probe;

import dev.threadcount.probe.crossover.CrossoverSession;
import dev.threadcount.probe.stacks.JvmAccess;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * A Java agent that reports what its JVM does, as JSON lines stamped with {@link System#nanoTime()}. On Linux that is
 * the monotonic clock which the load generator reads too.
 *
 * <p>At start: {@code -javaagent:probe.jar=out=file:/tmp/lines}. Into a running JVM: {@code jcmd PID JVMTI.agent_load
 * /path/probe.jar '"out=unix:/tmp/socket"'}. {@code dev.threadcount.agent.Agent} loads this class. It ends, and leaves the JVM as it was, when its socket is closed.
 */
public final class Probe implements Runnable {
    /** The version of the lines and of the argument, which equals {@code VERSION} in {@code machine/src/probe/attach.rs}. */
    private static final long VERSION = 3;
    private static final String LOADER = "threadcount-probe";
    /** The subject of a problem that ends the events, but not the readings. It equals {@code EVENTS} in {@code model/src/record/jvm.rs}. */
    private static final String EVENTS = "events";

    private final Options options;
    private final Output output;
    private final Clock clock = new Clock();
    private final Sampler sampler;
    /** Null if the JVM cannot bear a recording. */
    private Recording recording;
    private final RecordingSpace space;
    private final MemoryRoom memory = new MemoryRoom();
    /** Why the JVM cannot bear a recording, or null if it can. */
    private String lack;
    private final Canary canary = new Canary();
    /** Null if this JVM does not show its threads. */
    private final StackSampler stacks;
    /** Why this JVM does not show its threads, or null if it does. */
    private Throwable hidden;

    private Probe(Options options, Output output, RecordingSpace space, String lack, Instrumentation instrumentation) {
        this.lack = lack;
        this.options = options;
        this.output = output;
        this.space = space;
        JvmAccess jvm = jvmAccess(instrumentation);
        sampler = new Sampler(Carriers.find(jvm), new Pools(jvm), canary);
        stacks = jvm == null ? null : new StackSampler(jvm, output, Path.of("/proc/self"), canary);
        recording = lack == null ? new Recording(options, output, clock, new Monitors(instrumentation), jvm) : null;
    }

    private JvmAccess jvmAccess(Instrumentation instrumentation) {
        try {
            return JvmDoor.open(instrumentation);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError another) {
            hidden = another;
            return null;
        }
    }

    /**
     * Starts the probe; {@code Agent} calls this.
     *
     * @param argument see {@link Options}
     * @param instrumentation the JVM's means to change classes
     * @throws IOException when the output cannot be opened
     */
    public static void start(String argument, Instrumentation instrumentation) throws IOException {
        Options options = Options.parse(argument);
        if (options.level() == Options.Level.CROSSOVER) {
            CrossoverSession.start(options.out().path(), instrumentation, hello(options), OwnThreads::start, Probe::closeLoader);
            return;
        }
        Output output = Output.open(options.out());
        try {
            if (options.level() == Options.Level.LOCKS) {
                snapshotLocks(output, options.limit(), instrumentation);
                return;
            }
            RecordingSpace space = RecordingSpace.find(options);
            String lack = space.lackToBegin();
            if (lack == null || options.eventsOptional()) {
                begin(new Probe(options, output, space, lack, instrumentation));
            } else {
                refuse(lack, options, output);
            }
        } catch (IOException | RuntimeException | Error failed) {
            output.close();
            throw failed;
        }
    }

    private static void begin(Probe probe) {
        try {
            probe.output.write(hello(probe.options));
            probe.output.flush();
            OwnThreads.start("", probe);
        } catch (RuntimeException | Error failed) {
            probe.closeRecording();
            throw failed;
        }
    }

    /** Writes only the reason. The reader of a file may not come before the run is over. */
    private static void refuse(String why, Options options, Output output) {
        output.write(JsonLine.of("refused", System.nanoTime()).put("why", why));
        output.close();
        if (!options.out().socket()) {
            System.err.println("threadcount probe: " + why);
        }
        closeLoader();
    }

    /**
     * Takes the snapshot on a thread of ours. Reading a class file takes locks of the application's class loaders, which a hanging JVM may
     * never release. The calling thread is the attach listener, and without it the JVM would not answer {@code jcmd} any more.
     */
    private static void snapshotLocks(Output output, Duration limit, Instrumentation instrumentation) throws IOException {
        FutureTask<Void> snapshot = new FutureTask<>(() -> {
            new LockSnapshot(JvmDoor.open(instrumentation), instrumentation::getAllLoadedClasses, limit).writeTo(output);
            return null;
        });
        try {
            // This wait has no blocker. A thread in FutureTask.get would have one, which would be in the snapshot.
            if (!OwnThreads.start("-locks", snapshot).join(limit)) {
                throw new IOException("the locks were not read within " + limit.toMillis() + " ms, e.g. on a full CPU");
            }
            snapshot.get();
        } catch (ExecutionException failed) {
            throw new IOException("the locks cannot be read", failed.getCause());
        } catch (InterruptedException stopped) {
            throw new IOException("the locks were not read", stopped);
        }
        output.close();
        closeLoader();
    }

    /** Closes the class loader, so that the JVM can forget our classes. This comes last. */
    private static void closeLoader() {
        if (Probe.class.getClassLoader() instanceof URLClassLoader loader && LOADER.equals(loader.getName())) {
            try {
                loader.close();
            } catch (IOException ignored) {
                // The file is closed when the loader is collected.
            }
        }
    }

    private static JsonLine hello(Options options) {
        return JsonLine.of("hello", System.nanoTime())
                .put("probe", VERSION)
                .put("pid", ProcessHandle.current().pid())
                .put("java", Runtime.version().toString())
                .put("vendor", System.getProperty("java.vendor"))
                .put("level", options.level().name().toLowerCase(java.util.Locale.ROOT))
                .put("processors", Runtime.getRuntime().availableProcessors());
    }

    @Override
    public void run() {
        List<Thread> helpers = new ArrayList<>();
        try {
            startHelpers(helpers);
            do {
                clock.adjust();
                read();
                TimeUnit.NANOSECONDS.sleep(options.period().toNanos());
            } while (mayGoOn() && output.flush());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error failed) {
            // There is no thread or no memory left. The visit ends, and the application continues.
            problem("visit", failed.toString());
        } finally {
            helpers.forEach(Thread::interrupt);
            end();
        }
    }

    private void startHelpers(List<Thread> started) {
        if (recording == null) {
            problem(EVENTS, lack);
        } else {
            recording.start();
        }
        if (hidden != null) {
            StackSampler.writeEnd(output, hidden);
        }
        if (stacks != null) {
            started.add(OwnThreads.start("-stacks", stacks));
        }
        started.add(OwnThreads.start("-canary", canary));
    }

    private boolean mayGoOn() {
        String why = space.lackOfLines(RecordingSpace.GO_ON_BYTES);
        why = why == null ? memory.lack() : why;
        if (why == null && recording != null) {
            lack = space.lackToGoOn();
            why = lack == null ? recording.whyEnded() : lack;
            if (lack != null && options.eventsOptional()) {
                closeRecording();
                problem(EVENTS, lack);
                why = null;
            }
        }
        if (why != null) {
            problem("visit", why);
        }
        return why == null;
    }

    private void closeRecording() {
        if (recording != null) {
            recording.close();
            recording = null;
        }
    }

    private void problem(String what, String why) {
        output.write(JsonLine.of("problem", System.nanoTime()).put("what", what).put("why", why));
    }

    /** Takes the readings. They continue whatever a bean of the application throws. */
    private void read() {
        try {
            sampler.writeTo(output);
        } catch (RuntimeException | LinkageError failed) {
            problem("readings", failed.toString());
        }
    }

    private void end() {
        try {
            keepRecording();
        } finally {
            try {
                closeRecording();
            } finally {
                OwnThreads.awaitOthers();
                output.close();
                closeLoader();
            }
        }
    }

    private void keepRecording() {
        try {
            if (options.recording() != null && recording != null) {
                recording.keep(options.recording());
            }
        } catch (IOException | RuntimeException notKept) {
            System.err.println("threadcount probe: cannot write " + options.recording() + ": " + notKept.getMessage());
        }
    }
}
