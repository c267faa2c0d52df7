package dev.threadcount.probe;

import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.Classifier;
import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.Role;
import dev.threadcount.probe.stacks.State;
import dev.threadcount.probe.stacks.ThreadStack;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Groups the drawn threads of one sample by what they do. */
final class SampleGroups {
    /** The activity of a task that was handed over and has never had a carrier. */
    private static final Activity NOT_BEGUN = new Activity(State.CARRIER, null, null, null, Role.UNKNOWN);
    /** The activity of a thread on a carrier without a frame: at its first or last step, or between park and running. */
    private static final Activity WITHOUT_FRAMES = new Activity(State.RUNNING, null, null, null, Role.UNKNOWN);

    private static final Set<State> HAS_PEER = EnumSet.of(State.SOCKET, State.SOCKET_WRITE);

    /** The number of threads that are asked. If that many read at one place from the same peer, the others of the sample do too. */
    private static final int MOST_PEERS = 4;

    /**
     * A drawn thread and its activity at that moment.
     *
     * @param activity null if it has no frames
     * @param task the kernel's view right after; null if the kernel was not asked or did not know
     */
    record Drawn(Thread thread, ThreadStack stack, Activity activity, KernelThreads.Task task) {
        /** The activity that the stack alone shows. */
        static Drawn of(Thread thread, ThreadStack stack) {
            return new Drawn(thread, stack, stack.frames().length == 0 ? null : Classifier.classify(stack), null);
        }
    }

    /** The threads of one kind that do the same. */
    record Group(boolean virtual, Activity activity, String holder, String peer) {}

    private final KernelThreads kernel;
    private final Peers peers;
    private final JvmAccess jvm;
    private final Map<Group, Integer> groups = new LinkedHashMap<>();
    private final Map<Activity, List<String>> peersAt = new HashMap<>();
    private Map<Thread, Integer> reading;
    private int virtualGone;
    private int platformGone;

    SampleGroups(JvmAccess jvm, KernelThreads kernel, Peers peers) {
        this.jvm = jvm;
        this.kernel = kernel;
        this.peers = peers;
    }

    /**
     * Looks at a thread. The kernel is asked at once, because a moment later the thread may do something else. For the
     * JVM a platform thread in native code runs, and one whose wait is over still waits until it has a core.
     */
    Drawn draw(Thread thread) {
        Drawn one = Drawn.of(thread, jvm.stackOf(thread));
        boolean isKnown = thread.isVirtual() || one.activity() == null || !isWork(one.activity())
                || one.activity().state() == State.RUNNING && !Classifier.mayWaitInNative(one.stack());
        KernelThreads.Task task = isKnown ? null : kernel.of(thread);
        return task == null ? one : new Drawn(thread, one.stack(), asTheKernelSays(one, task), task);
    }

    private static Activity asTheKernelSays(Drawn one, KernelThreads.Task task) {
        Activity activity = one.activity();
        if (!task.waits()) {
            return new Activity(State.RUNNING, null, activity.application(), activity.library(), activity.role());
        }
        Activity waiting = Classifier.mayWaitInNative(one.stack()) ? Classifier.classify(one.stack(), true) : activity;
        // A worker that wrote a moment ago now rests in a call without a socket.
        return waiting.state() == State.SOCKET_WRITE && task.descriptor() < 0 ? activity : waiting;
    }

    private static boolean isWork(Activity activity) {
        return activity.role() != Role.WORKER && activity.role() != Role.OTHER;
    }

    void addAll(List<Drawn> drawn, Holders holders) {
        drawn.forEach(one -> add(one, holders));
    }

    /** The number of threads in each group. */
    Map<Group, Integer> counts() {
        return groups;
    }

    /** The number of threads that ended after they were listed and before their stack was taken. */
    int gone(boolean virtual) {
        return virtual ? virtualGone : platformGone;
    }

    private void add(Drawn one, Holders holders) {
        Thread thread = one.thread();
        if (one.activity() == null) {
            addWithoutFrames(thread, one.stack());
            return;
        }
        Activity activity = holders.named(thread, one.activity());
        merge(isWork(activity)
                ? new Group(thread.isVirtual(), activity, holders.of(thread, one.stack(), activity), peer(one, activity))
                : new Group(thread.isVirtual(), new Activity(activity.state(), null, null, null, activity.role()), null, null));
    }

    private void addWithoutFrames(Thread thread, ThreadStack stack) {
        if (stack.state() == Thread.State.TERMINATED) {
            virtualGone += thread.isVirtual() ? 1 : 0;
            platformGone += thread.isVirtual() ? 0 : 1;
        } else if (thread.isVirtual()) {
            boolean isReady = stack.state() == Thread.State.RUNNABLE || stack.state() == Thread.State.NEW;
            merge(new Group(true, isReady && !stack.mounted() ? NOT_BEGUN : WITHOUT_FRAMES, null, null));
        }
    }

    private void merge(Group group) {
        groups.merge(group, 1, Integer::sum);
    }

    /**
     * The peer of a socket, which is not in the stack. The kernel knows the socket of a platform thread, the JDK's
     * poller that of a virtual one.
     */
    private String peer(Drawn one, Activity activity) {
        if (!HAS_PEER.contains(activity.state()) || activity.application() == null) {
            return null;
        }
        List<String> known = peersAt.computeIfAbsent(activity, any -> new ArrayList<>());
        if (known.size() >= MOST_PEERS) {
            return agreed(known);
        }
        KernelThreads.Task task = one.task();
        int descriptor = one.thread().isVirtual() ? polled(one) : task == null ? -1 : task.descriptor();
        known.add(descriptor < 0 ? null : peers.of(descriptor));
        return known.getLast();
    }

    /** The peer on which most agree. A connection may be too new to be known. */
    private static String agreed(List<String> peers) {
        List<String> known = peers.stream().filter(Objects::nonNull).toList();
        return 2 * known.size() >= peers.size() && known.stream().distinct().count() == 1 ? known.getFirst() : null;
    }

    /** The descriptor that the poller has for a thread which has not moved since its stack was taken. */
    private int polled(Drawn one) {
        if (reading == null) {
            reading = jvm.polledDescriptors();
        }
        int descriptor = reading.getOrDefault(one.thread(), -1);
        return descriptor >= 0 && Arrays.equals(jvm.stackOf(one.thread()).frames(), one.stack().frames()) ? descriptor : -1;
    }
}
