package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A Java agent that reports what its JVM does, as JSON lines stamped with {@link System#nanoTime()}. On Linux that is
 * the monotonic clock which the load generator reads too.
 *
 * <p>At start: {@code -javaagent:probe.jar=out=file:/tmp/lines}. Into a running JVM: {@code jcmd PID JVMTI.agent_load
 * /path/probe.jar '"out=unix:/tmp/socket"'}. It ends, and leaves the JVM as it was, when its socket is closed.
 */
public final class Probe implements Runnable {
    private final Options options;
    private final Output output;
    private final Clock clock = new Clock();
    private final Sampler sampler;
    private final Recording recording;
    /** Null where this JVM does not show its threads. */
    private final StackSampler stacks;
    /** Why it does not; null where it does. */
    private Throwable hidden;

    private Probe(Options options, Output output, Instrumentation instrumentation) {
        this.options = options;
        this.output = output;
        JvmAccess jvm = jvmAccess(instrumentation);
        sampler = new Sampler(Carriers.find(jvm));
        stacks = jvm == null ? null : new StackSampler(jvm, output, Path.of("/proc/self"));
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
     * The JVM calls this before {@code main}.
     *
     * @param argument see {@link Options}
     * @param instrumentation the JVM's hand
     * @throws IOException when the output cannot be opened
     */
    public static void premain(String argument, Instrumentation instrumentation) throws IOException {
        start(argument, instrumentation);
    }

    /**
     * The JVM calls this when the agent is loaded into a running process.
     *
     * @param argument see {@link Options}
     * @param instrumentation the JVM's hand
     * @throws IOException when the output cannot be opened
     */
    public static void agentmain(String argument, Instrumentation instrumentation) throws IOException {
        start(argument, instrumentation);
    }

    private static void start(String argument, Instrumentation instrumentation) throws IOException {
        Options options = Options.parse(argument);
        Probe probe = new Probe(options, Output.open(options.out()), instrumentation);
        probe.hello();
        OwnThreads.start("", probe);
    }

    private void hello() {
        output.write(JsonLine.of("hello", System.nanoTime())
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
        try {
            do {
                clock.adjust();
                sampler.writeTo(output);
                TimeUnit.NANOSECONDS.sleep(options.period().toNanos());
            } while (output.flush());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            if (sampling != null) {
                sampling.interrupt();
            }
            end();
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
        output.close();
    }
}
