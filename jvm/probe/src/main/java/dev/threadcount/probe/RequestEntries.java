package dev.threadcount.probe;

import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.Code;
import dev.threadcount.probe.stacks.Role;
import dev.threadcount.probe.stacks.State;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds requests that a server keeps waiting in its own code: virtual threads that wait for other threads, and were started in the same
 * place as threads with a request in this sample. Platform threads are left out, because all threads of a pool start in the same place.
 */
final class RequestEntries {
    private static final Set<State> WAITS_FOR_OTHERS = EnumSet.of(State.MONITOR, State.LOCK, State.SEMAPHORE, State.FUTURE, State.WAIT);
    /** The number of frames of an entry. Fewer would only show an executor. */
    private static final int FRAMES = 2;

    private RequestEntries() {}

    /** The same threads, with the role of a request for those that were found. */
    static List<Drawn> named(List<Drawn> drawn) {
        Set<List<String>> entries = drawn.stream()
                .filter(one -> one.thread().isVirtual() && one.activity() != null && one.activity().role() == Role.REQUEST)
                .map(RequestEntries::entry)
                .filter(entry -> entry.size() == FRAMES)
                .collect(Collectors.toSet());
        return entries.isEmpty() ? drawn : drawn.stream().map(one -> isKept(one) && entries.contains(entry(one)) ? asRequest(one) : one).toList();
    }

    private static boolean isKept(Drawn one) {
        Activity activity = one.activity();
        return one.thread().isVirtual() && activity != null && activity.role() == Role.OTHER && WAITS_FOR_OTHERS.contains(activity.state());
    }

    private static Drawn asRequest(Drawn one) {
        Activity activity = one.activity();
        Activity named = new Activity(activity.state(), activity.resource(), activity.application(), activity.library(), Role.REQUEST);
        return new Drawn(one.thread(), one.stack(), named, one.task());
    }

    /** The lowest methods of a stack that do not belong to the JDK. */
    private static List<String> entry(Drawn one) {
        List<String> methods = Arrays.stream(one.stack().frames())
                .filter(frame -> !Code.isJdk(frame.getClassName()))
                .map(frame -> frame.getClassName() + "." + frame.getMethodName())
                .toList();
        return methods.subList(Math.max(0, methods.size() - FRAMES), methods.size());
    }
}
