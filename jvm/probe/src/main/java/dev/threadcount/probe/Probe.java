package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A Java agent that reports what its JVM does, as JSON lines stamped with {@link System#nanoTime()}. On Linux that is
 * the monotonic clock which the load generator reads too.
 *
 * <p>At start: {@code -javaagent:probe.jar=out=file:/tmp/lines}. Into a running JVM: {@code jcmd PID JVMTI.agent_load
 * /path/probe.jar '"out=unix:/tmp/socket"'}. {@code dev.threadcount.agent.Agent} loads this class. It ends, and leaves the JVM as it was, when its socket is closed.
 */
public final class Probe implements Runnable {
    /** Of the lines and of the argument; {@code VERSION} in {@code lab/src/probe/attach.rs} is the same. */
    private static final long VERSION = 2;
    private static final String LOADER = "threadcount-probe";

    private final Options options;
    private final Output output;
    private final Clock clock = new Clock();
    private final Sampler sampler;
    private final Recording recording;
    private final Canary canary = new Canary();
    /** Null where this JVM does not show its threads. */
    private final StackSampler stacks;
    /** Why it does not; null where it does. */
    private Throwable hidden;

    private Probe(Options options, Output output, Instrumentation instrumentation) {
        this.options = options;
        this.output = output;
        JvmAccess jvm = jvmAccess(instrumentation);
        sampler = new Sampler(Carriers.find(jvm), new Pools(jvm), canary);
        stacks = jvm == null ? null : new StackSampler(jvm, output, Path.of("/proc/self"), canary);
        recording = new Recording(options, output, clock, new Monitors(instrumentation));
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
     * @param instrumentation the JVM's hand
     * @throws IOException when the output cannot be opened
     */
    public static void start(String argument, Instrumentation instrumentation) throws IOException {
        Options options = Options.parse(argument);
        Output output = Output.open(options.out());
        try {
            if (options.level() == Options.Level.LOCKS) {
                snapshotLocks(output, instrumentation);
                return;
            }
            Probe probe = new Probe(options, output, instrumentation);
            probe.hello();
            OwnThreads.start("", probe);
        } catch (IOException | RuntimeException | Error failed) {
            output.close();
            throw failed;
        }
    }

    private static void snapshotLocks(Output output, Instrumentation instrumentation) throws IOException {
        try {
            new LockSnapshot(JvmDoor.open(instrumentation), new ReleaseScan(instrumentation)).writeTo(output);
        } catch (ReflectiveOperationException hidden) {
            throw new IOException("this JVM does not show its threads", hidden);
        }
        output.close();
        closeLoader();
    }

    /** So that the JVM can forget our classes; the last thing that is done. */
    private static void closeLoader() {
        if (Probe.class.getClassLoader() instanceof URLClassLoader loader && LOADER.equals(loader.getName())) {
            try {
                loader.close();
            } catch (IOException ignored) {
                // The file is closed when the loader is collected.
            }
        }
    }

    private void hello() {
        output.write(JsonLine.of("hello", System.nanoTime())
                .put("probe", VERSION)
                .put("pid", ProcessHandle.current().pid())
                .put("java", Runtime.version().toString())
                .put("vendor", System.getProperty("java.vendor"))
                .put("level", options.level().name().toLowerCase(java.util.Locale.ROOT))
                .put("processors", Runtime.getRuntime().availableProcessors()));
        output.flush();
    }

    @Override
    public void run() {
        recording.start();
        if (hidden != null) {
            StackSampler.writeEnd(output, hidden);
        }
        Thread sampling = stacks == null ? null : OwnThreads.start("-stacks", stacks);
        Thread asking = OwnThreads.start("-canary", canary);
        try {
            do {
                clock.adjust();
                read();
                TimeUnit.NANOSECONDS.sleep(options.period().toNanos());
            } while (output.flush());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            asking.interrupt();
            if (sampling != null) {
                sampling.interrupt();
            }
            end();
        }
    }

    /** Whatever a bean of the application throws, the readings go on. */
    private void read() {
        try {
            sampler.writeTo(output);
        } catch (RuntimeException | LinkageError failed) {
            output.write(JsonLine.of("problem", System.nanoTime()).put("what", "readings").put("why", failed.toString()));
        }
    }

    private void end() {
        try {
            if (options.recording() != null) {
                recording.keep(options.recording());
            }
        } catch (IOException notKept) {
            System.err.println("threadcount probe: cannot write " + options.recording() + ": " + notKept.getMessage());
        }
        recording.close();
        OwnThreads.awaitOthers();
        output.close();
        closeLoader();
    }
}
