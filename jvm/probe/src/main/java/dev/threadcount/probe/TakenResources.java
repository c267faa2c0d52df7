package dev.threadcount.probe;

import dev.threadcount.probe.ClassFile.Member;
import dev.threadcount.probe.MethodFlow.Call;
import dev.threadcount.probe.stacks.Code;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What threads wait for that has to be given back, as a permit or a connection, and which threads have one: those past a call that takes it, on a
 * way without a call that gives it back. Shown by the code of the methods on the stacks, whatever library takes it.
 */
final class TakenResources {
    private static final String CONCURRENT = "java/util/concurrent/";
    private static final Set<String> TAKES = Set.of("acquire", "acquireUninterruptibly", "tryAcquire", "take", "takeFirst", "takeLast", "poll",
            "pollFirst", "pollLast", "wait", "await", "awaitNanos", "awaitUninterruptibly", "awaitUntil", "park", "parkNanos", "parkUntil",
            "readLock", "writeLock", "readLockInterruptibly", "writeLockInterruptibly", "tryReadLock", "tryWriteLock");
    private static final Set<String> TAKERS = Set.of("java/util/concurrent/Semaphore", "java/util/concurrent/locks/StampedLock",
            "java/util/concurrent/locks/Condition", "java/util/concurrent/locks/LockSupport", "java/lang/Object");
    /** How the names of methods begin that give back what they are called for. */
    private static final List<String> GIVES = List.of("close", "release", "unlock", "return", "recycle", "free", "give", "checkin", "leave",
            "exit", "dispose", "destroy", "invalidate", "evict");
    /** Of those that do so where they are called for what it was taken from. */
    private static final List<String> STORES = List.of("put", "offer", "add", "push");
    private static final List<String> WAKES = List.of("notify", "signal", "unpark", "release", "unlock");
    private static final Set<String> VALUES = Set.of("java.lang.String", "java.lang.Integer", "java.lang.Long", "java.lang.Boolean",
            "java.lang.Double", "java.lang.Number", "java.lang.CharSequence");
    private static final int MOST_FRAMES = 40;

    private final LoadedCode code;
    private final Map<Place, Boolean> asked = new HashMap<>();

    /**
     * What a thread waits for.
     *
     * @param name with the call that takes it
     * @param isGivenBack whether the code also gives it back
     * @param takers the calls that take it
     * @param frames how many frames from the top are on the way to it
     * @param place the outermost frame that takes it
     */
    record Resource(String name, boolean isGivenBack, Set<Taker> takers, int frames, StackTraceElement place) {}

    /**
     * A call that takes it.
     *
     * @param owners the class that is called, and the one that it is seen as
     * @param names the methods of it
     * @param field of the object that is called; null: it is in no field
     * @param kept the field from which the call of the JDK takes it; null for none
     * @param within the method that calls it, where there is no field; null: any
     */
    record Taker(Set<String> owners, Set<String> names, String field, String within, String kept) {
        boolean is(Call call, String caller) {
            return owners.contains(call.member().owner()) && names.contains(call.member().name())
                    && (field == null || field.equals(call.field())) && (within == null || within.equals(caller));
        }
    }

    private record Place(Set<Taker> takers, StackTraceElement frame, String called) {}

    TakenResources(LoadedCode code) {
        this.code = code;
    }

    /** Null where the thread waits for something else, or its code cannot be read. */
    Resource of(StackTraceElement[] stack) {
        int at = 0;
        while (at < stack.length && "java.base".equals(stack[at].getModuleName())) {
            at++;
        }
        if (at == 0 || at == stack.length) {
            return null;
        }
        Set<Taker> takers = new HashSet<>();
        String name = null;
        boolean isGivenBack = false;
        boolean isCloseable = false;
        String kept = null;
        StackTraceElement place = null;
        for (; at < Math.min(stack.length, MOST_FRAMES) && !isOfResult(stack[at].getClassName()); at++) {
            MethodFlow flow = flow(stack[at]);
            Call call = flow == null ? null : call(flow, stack[at].getLineNumber(), stack[at - 1].getMethodName());
            boolean isFirst = name == null;
            if (call == null || (isFirst ? !isOfJdkToTake(call.member()) : !mayCarry(call.member()))) {
                break;
            }
            kept = isFirst ? call.field() : kept;
            place = stack[at];
            boolean isApplication = Code.isApplication(stack[at].getClassName());
            boolean isGivenBackHere = isGivenBack(flow, call, kept);
            boolean isEnd = isGivenBackHere && isApplication || !escapes(flow, call, kept);
            // A holder within a library has yet to return from the call.
            if (isEnd || isApplication) {
                takers.add(taker(call, stack[at], stack[at - 1], isFirst, kept));
            }
            // What is around it, as a transaction, is no better name.
            name = isCloseable && !isCloseable(call.member()) ? name : name(call, stack[at - 1], isFirst);
            isCloseable |= isCloseable(call.member());
            isGivenBack |= isGivenBackHere;
            if (isEnd || Code.isServers(stack[at].getClassName())) {
                break;
            }
        }
        return name == null ? null : new Resource(name, isGivenBack || isCloseable, takers, at, place);
    }

    /** The frame at which a thread with this stack has one; null for none. */
    private StackTraceElement heldAt(StackTraceElement[] stack, boolean isBlocked, Set<Taker> takers) {
        Resource wanted = of(stack);
        boolean isSame = wanted != null && !Collections.disjoint(wanted.takers(), takers);
        for (int at = isSame ? Math.min(wanted.frames(), stack.length) : 0; at < Math.min(stack.length, MOST_FRAMES); at++) {
            StackTraceElement frame = stack[at];
            String called = at > 0 ? stack[at - 1].getMethodName() : isBlocked ? MethodFlow.MONITOR : null;
            if (!"java.base".equals(frame.getModuleName())
                    && asked.computeIfAbsent(new Place(takers, frame, called), this::isPast)) {
                return frame;
            }
        }
        return null;
    }

    private boolean isPast(Place place) {
        StackTraceElement frame = place.frame();
        MethodFlow flow = flow(frame);
        if (flow == null) {
            return false;
        }
        for (Call call : flow.calls()) {
            String caller = frame.getClassName() + "." + frame.getMethodName();
            Taker taker = place.takers().stream().filter(it -> it.is(call, caller)).findFirst().orElse(null);
            boolean isUnsure = place.called() == null && flow.lineOf(call.at()) == frame.getLineNumber();
            if (taker != null && !isUnsure) {
                BitSet after = flow.after(call, at -> gives(flow, flow.callAt(at), call, taker.kept()));
                // Back at the same call, in a loop, or at another one that waits for the same: it waits.
                flow.calls().forEach(other -> {
                    boolean isSame = other.at() == call.at() || isWait(other) && taker.is(other, caller);
                    after.set(other.at(), after.get(other.at()) && !isSame);
                });
                if (flow.isAt(after, frame.getLineNumber(), place.called())) {
                    return true;
                }
            }
        }
        return false;
    }

    private MethodFlow flow(StackTraceElement frame) {
        for (MethodFlow flow : code.methods(frame.getClassName())) {
            if (flow.name().equals(frame.getMethodName()) && flow.hasLine(frame.getLineNumber())) {
                return flow;
            }
        }
        return null;
    }

    private static Call call(MethodFlow flow, int line, String name) {
        for (Call call : flow.calls()) {
            if (call.member().name().equals(name) && flow.lineOf(call.at()) == line) {
                return call;
            }
        }
        return null;
    }

    private static boolean isWait(Call call) {
        return Stream.of("wait", "await", "park").anyMatch(call.member().name()::startsWith);
    }

    /** What a future returns comes from elsewhere. */
    private static boolean isOfResult(String type) {
        return type.contains("Future") || type.contains("Promise");
    }

    private static boolean isOfJdkToTake(Member called) {
        return TAKES.contains(called.name()) && isToTakeFrom(called.owner());
    }

    private static boolean isToTakeFrom(String owner) {
        return TAKERS.contains(owner) || owner.startsWith(CONCURRENT) && (owner.contains("Queue") || owner.contains("Deque"));
    }

    /** A text or a number has no connection, and a method that returns nothing may have stored it. */
    private static boolean mayCarry(Member called) {
        String type = returned(called);
        boolean isValue = VALUES.contains(type) || type.startsWith("[") || type.length() == 1;
        return !isValue || type.equals("V") || type.equals("Z");
    }

    private static Taker taker(Call call, StackTraceElement frame, StackTraceElement called, boolean isOfJdk, String kept) {
        Member member = call.member();
        Set<String> owners = new HashSet<>(List.of(member.owner(), called.getClassName().replace('.', '/')));
        String within = isOfJdk && call.field() == null ? frame.getClassName() + "." + frame.getMethodName() : null;
        return new Taker(owners, isOfJdk ? TAKES : Set.of(member.name()), isOfJdk ? call.field() : null, within, kept);
    }

    /** Whether the caller returns with it. */
    private boolean escapes(MethodFlow flow, Call call, String kept) {
        return flow.after(call, at -> gives(flow, flow.callAt(at), call, kept)).stream().anyMatch(flow::isReturn);
    }

    private boolean isGivenBack(MethodFlow flow, Call call, String kept) {
        return flow.after(call, at -> false).stream().mapToObj(flow::callAt).anyMatch(other -> gives(flow, other, call, kept));
    }

    /**
     * Whether one call gives back what another one took: it concerns what that returned, or the object that was called.
     *
     * @param kept the field from which it was taken; null for none
     */
    private boolean gives(MethodFlow flow, Call giver, Call taker, String kept) {
        if (giver == null || giver.at() == taker.at()) {
            return false;
        }
        int variable = flow.variableOf(taker);
        boolean isByCode = isGivingByCode(giver, kept);
        if (variable >= 0) {
            return (isByCode || begins(giver.member().name(), GIVES)) && giver.variables().get(variable);
        }
        boolean isOfSame = Objects.equals(giver.field(), taker.field())
                && (taker.field() != null || giver.member().owner().equals(taker.member().owner()));
        return isByCode && kept != null || isOfSame && (isByCode || begins(giver.member().name(), GIVES));
    }

    /** Whether the call wakes who waits, or stores what was taken; of a program, whether its own code does. */
    private boolean isGivingByCode(Call call, String kept) {
        Member called = call.member();
        return wakesOrStores(call, kept) || !called.owner().startsWith("java/") && methods(called).flatMap(TakenResources::calls)
                .anyMatch(inner -> inner.member().owner().startsWith("java/") && wakesOrStores(inner, kept));
    }

    /** Of this name, in the class that is called or one that it extends. */
    private Stream<MethodFlow> methods(Member called) {
        for (Class<?> type = code.loaded(called.owner().replace('/', '.')); type != null; type = type.getSuperclass()) {
            List<MethodFlow> found = code.methods(type.getName()).stream().filter(flow -> flow.name().equals(called.name())).toList();
            if (!found.isEmpty()) {
                return found.stream();
            }
        }
        return Stream.empty();
    }

    private static boolean wakesOrStores(Call call, String kept) {
        String name = call.member().name();
        boolean isSame = Objects.equals(call.field(), kept) && isToTakeFrom(call.member().owner());
        return isSame && (begins(name, WAKES) || kept != null && begins(name, STORES));
    }

    private static Stream<Call> calls(MethodFlow flow) {
        List<Call> all = new ArrayList<>();
        flow.calls().forEach(all::add);
        return all.stream();
    }

    private static boolean begins(String name, List<String> with) {
        return with.stream().anyMatch(name::startsWith);
    }

    /** Whether what it returns has to be closed. */
    private boolean isCloseable(Member called) {
        Class<?> type = code.loaded(returned(called));
        return type != null && AutoCloseable.class.isAssignableFrom(type);
    }

    /** {@code a Connection of com.zaxxer.hikari.HikariDataSource.getConnection}. */
    private static String name(Call call, StackTraceElement called, boolean isOfJdk) {
        if (isOfJdk && call.field() != null) {
            return "one of " + call.field().replace('/', '.');
        }
        String type = returned(call.member());
        String simple = type.substring(Math.max(type.lastIndexOf('.'), type.lastIndexOf('$')) + 1);
        String article = "AEIOaeio".indexOf(simple.charAt(0)) >= 0 ? "an " : "a ";
        String thing = type.length() < 2 || type.startsWith("[") || simple.equals("Object") ? "a permit" : article + simple;
        return thing + " of " + called.getClassName() + "." + called.getMethodName();
    }

    /** The class that a call returns; a letter or nothing for none. */
    private static String returned(Member called) {
        String type = called.descriptor().substring(called.descriptor().indexOf(')') + 1);
        return type.startsWith("L") ? type.substring(1, type.length() - 1).replace('/', '.') : type;
    }

    /** Those of the threads that have one, by number, and the frame at which each has it. Blocked ones wait for a monitor. */
    Map<Long, StackTraceElement> holders(Map<Long, StackTraceElement[]> stacks, Set<Long> blocked, Set<Taker> takers) {
        Map<Long, StackTraceElement> found = new HashMap<>();
        stacks.forEach((thread, stack) -> {
            StackTraceElement frame = heldAt(stack, blocked.contains(thread), takers);
            if (frame != null) {
                found.put(thread, frame);
            }
        });
        return found;
    }
}
