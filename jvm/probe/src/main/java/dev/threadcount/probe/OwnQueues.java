package dev.threadcount.probe;

import dev.threadcount.probe.MethodFlow.Call;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;

/**
 * Which side of a queue of a program's own a thread waits on, where the queue is a collection or an array that is guarded by a monitor or a
 * lock: after the wait, the code of the method puts something in or takes something out.
 */
final class OwnQueues {
    private static final List<String> WAITS = List.of("wait", "await");
    private static final List<String> PUTS = List.of("add", "offer", "put", "push");
    private static final List<String> TAKES = List.of("remove", "poll", "take", "pop");

    /** What a thread waits for there. */
    enum Side { ROOM, ITEM }

    private final LoadedCode code;

    OwnQueues(LoadedCode code) {
        this.code = code;
    }

    /** Null where the thread waits for something else, or its code cannot be read. */
    Side of(StackTraceElement[] stack) {
        int at = 0;
        while (at < stack.length && "java.base".equals(stack[at].getModuleName())) {
            at++;
        }
        if (at == 0 || at == stack.length) {
            return null;
        }
        StackTraceElement frame = stack[at];
        String called = stack[at - 1].getMethodName();
        for (MethodFlow flow : code.methods(frame.getClassName())) {
            for (Call call : flow.calls()) {
                boolean isIt = flow.name().equals(frame.getMethodName()) && flow.lineOf(call.at()) == frame.getLineNumber()
                        && call.member().name().equals(called);
                if (isIt) {
                    return isWait(call) ? side(flow, call) : null;
                }
            }
        }
        return null;
    }

    private static boolean isWait(Call call) {
        String owner = call.member().owner();
        return begins(call, WAITS) && (owner.equals("java/lang/Object") || owner.equals("java/util/concurrent/locks/Condition"));
    }

    /** What all ways from the wait come to first. */
    private static Side side(MethodFlow flow, Call wait) {
        BitSet after = flow.after(wait, at -> change(flow, at) != null);
        List<Side> first = after.stream().mapToObj(at -> change(flow, at)).flatMap(Stream::ofNullable).distinct().toList();
        return first.size() == 1 ? first.get(0) : null;
    }

    private static Side change(MethodFlow flow, int at) {
        if (flow.isElementStored(at)) {
            return Side.ROOM;
        }
        Call call = flow.callAt(at);
        boolean isOfCollection = call != null && call.member().owner().startsWith("java/util/") && !call.member().owner().contains("/locks/");
        boolean takes = isOfCollection && begins(call, TAKES) || flow.isElementLoaded(at);
        boolean puts = isOfCollection && begins(call, PUTS);
        return takes ? Side.ITEM : puts ? Side.ROOM : null;
    }

    private static boolean begins(Call call, List<String> names) {
        return names.stream().anyMatch(call.member().name()::startsWith);
    }
}
