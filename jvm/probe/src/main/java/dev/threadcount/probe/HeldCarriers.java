package dev.threadcount.probe;

import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.Classifier;
import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.ThreadStack;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Finds the virtual threads that hold carriers while another one waits for a carrier. If a thread is mounted in two samples and the canary
 * could not run in between, it has not left its carrier: otherwise the threads in the queue would have run first.
 */
final class HeldCarriers {
    /** The delay of the canary from which on carriers may be held. A queue of short tasks is mostly served sooner. */
    private static final long LATE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final JvmAccess jvm;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final List<Thread> mounted = new ArrayList<>();
    private Map<Thread, Hold> before = Map.of();
    private long beforeNs;
    private long waitingSinceNs;
    private boolean late;

    /** A thread that has been mounted since a time, with the CPU that its carrier had used then, and its stack in the last sample. */
    private record Hold(long fromNs, Thread carrier, long carrierCpuNs, StackTraceElement[] frames) {}

    HeldCarriers(JvmAccess jvm) {
        this.jvm = jvm;
    }

    /**
     * Begins a sample, before its threads are listed.
     *
     * @param sinceNs since when the canary waits; 0 if it does not
     */
    void begin(long sinceNs, long timeNs) {
        if (sinceNs != waitingSinceNs) {
            before = Map.of();
        }
        waitingSinceNs = sinceNs;
        late = sinceNs != 0 && timeNs - sinceNs >= LATE_NS;
        mounted.clear();
    }

    /** Whether this sample must offer all virtual threads, because any of them may hold a carrier. */
    boolean needsAll() {
        return late;
    }

    /** Takes in a virtual thread of the sample. */
    void offer(Thread thread) {
        if (late && jvm.carrierOf(thread) != null) {
            mounted.add(thread);
        }
    }

    /** Writes the holders, after the threads of the sample were listed. */
    void writeTo(Output output, long timeNs) {
        Map<Thread, Hold> now = new HashMap<>();
        for (Thread thread : mounted) {
            ThreadStack stack = jvm.stackOf(thread);
            Thread carrier = jvm.carrierOf(thread);
            if (stack.mounted() && stack.frames().length > 0 && carrier != null) {
                Hold earlier = before.get(thread);
                boolean isHeld = earlier != null && earlier.carrier() == carrier;
                long cpuNs = threads.getThreadCpuTime(carrier.threadId());
                now.put(thread, new Hold(isHeld ? earlier.fromNs() : timeNs, carrier, isHeld ? earlier.carrierCpuNs() : cpuNs,
                        stack.frames()));
                if (isHeld) {
                    write(output, timeNs, stack, earlier, cpuNs);
                }
            }
        }
        before = now;
        beforeNs = timeNs;
    }

    /** @param cpuNs the CPU that its carrier has used; below 0 if unknown */
    private void write(Output output, long timeNs, ThreadStack stack, Hold earlier, long cpuNs) {
        StackTraceElement[] common = common(earlier.frames(), stack.frames());
        Activity activity = Classifier.classify(stack);
        Activity both = common.length == 0 ? activity : Classifier.classify(new ThreadStack(
                common, stack.state(), stack.virtual(), stack.mounted(), null, List.of()));
        JsonLine line = JsonLine.of("held_carrier", timeNs)
                .put("for_ns", timeNs - beforeNs)
                .put("held_ns", timeNs - earlier.fromNs())
                .put("state", activity.state().wireName())
                .put("resource", activity.resource())
                .put("application", both.application())
                .put("library", both.library());
        if (cpuNs >= 0 && earlier.carrierCpuNs() >= 0) {
            // On a full machine even a short request stays mounted for long, because its carrier has no core.
            line.put("ran_ns", cpuNs - earlier.carrierCpuNs());
        }
        output.write(line);
    }

    /** The frames, starting with the first call, at which both stacks are at the same line. */
    static StackTraceElement[] common(StackTraceElement[] one, StackTraceElement[] other) {
        int same = 0;
        int most = Math.min(one.length, other.length);
        while (same < most && one[one.length - 1 - same].equals(other[other.length - 1 - same])) {
            same++;
        }
        return Arrays.copyOfRange(other, other.length - same, other.length);
    }
}
