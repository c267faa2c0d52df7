package dev.threadcount.probe;

import dev.threadcount.probe.MethodFlow.Call;
import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.Code;
import dev.threadcount.probe.stacks.Role;
import dev.threadcount.probe.stacks.State;
import dev.threadcount.probe.stacks.ThreadStack;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Threads that sleep in a loop until something that the loop checks has changed, and those that are past such a loop. Shown by the code of
 * the methods on their stacks, whatever it is called. Used by the sampler's thread only.
 */
final class Polls {
    /** Samples in which code is read: each asks for all classes. */
    private static final int MOST_LOOKS = 10;
    /** Methods that only pass the time of a sleep on. */
    private static final int MOST_HELPERS = 2;
    private static final int MOST_ELSEWHERE = 100;

    private final Supplier<Class<?>[]> classes;
    private final Map<Place, Optional<Loop>> loops = new HashMap<>();
    private final Map<Passage, Boolean> passages = new HashMap<>();
    /** By class: whether it parks threads only for a time. */
    private final Map<String, Boolean> pausing = new HashMap<>();
    /** Threads that did something else than poll: of many only a few are drawn in one sample. */
    private final Deque<Elsewhere> elsewhere = new ArrayDeque<>();
    /** Of this sample; null until code is needed. */
    private LoadedCode code;
    private int looks;

    /** A call: its line, and the method that it calls. */
    private record Place(StackTraceElement frame, String called) {
        static Place of(StackTraceElement[] frames, int at) {
            return new Place(frames[at], at > 0 ? frames[at - 1].getMethodName() : null);
        }

        boolean isInMethodOf(Place other) {
            return frame.getClassName().equals(other.frame.getClassName()) && frame.getMethodName().equals(other.frame.getMethodName());
        }
    }

    /**
     * A loop around a sleep.
     *
     * @param isHelper there is no loop here: the caller says how long it sleeps
     * @param lines those of the loop
     */
    private record Loop(boolean isHelper, BitSet lines) {}

    private record Elsewhere(StackTraceElement[] frames, String place) {}

    private record Passage(Place waiting, Place other) {}

    /** @param classes all that are loaded */
    Polls(Supplier<Class<?>[]> classes) {
        this.classes = classes;
    }

    /** After each sample: classes that are kept cannot be unloaded. */
    void forgetCode() {
        code = null;
    }

    /** The same threads; those that poll have that state. */
    List<Drawn> named(List<Drawn> drawn) {
        return drawn.stream().map(this::named).toList();
    }

    /** The same thread, with the state of one that polls if it does. */
    Drawn named(Drawn one) {
        Activity activity = one.activity();
        if (activity == null || activity.role() == Role.WORKER || activity.role() == Role.OTHER) {
            return one;
        }
        boolean isPaused = isPaused(one.stack(), activity);
        boolean mayPoll = isPaused || activity.state() == State.SLEEP || activity.state() == State.RUNNING;
        boolean polls = mayPoll && loopAt(one.stack().frames()) >= 0;
        if (!polls) {
            if (activity.application() != null) {
                elsewhere.addLast(new Elsewhere(one.stack().frames(), activity.application()));
            }
            if (elsewhere.size() > MOST_ELSEWHERE) {
                elsewhere.removeFirst();
            }
        }
        return polls || isPaused ? with(polls ? State.POLL : State.SLEEP, one) : one;
    }

    private static Drawn with(State state, Drawn one) {
        Activity activity = one.activity();
        Activity other = new Activity(state, null, activity.application(), activity.library(), activity.role());
        return new Drawn(one.thread(), one.stack(), other, one.task());
    }

    /** Whether it is parked for a time by code that unparks nothing: it sleeps. */
    private boolean isPaused(ThreadStack stack, Activity activity) {
        StackTraceElement[] frames = stack.frames();
        int at = afterJdk(frames);
        boolean mayBe = activity.state() == State.WAIT && stack.blocker() == null && at > 0 && at < frames.length && isParkForTime(frames[at - 1]);
        return mayBe && pausing.computeIfAbsent(frames[at].getClassName(), this::unparksNothing);
    }

    private boolean unparksNothing(String type) {
        List<MethodFlow> methods = code() == null ? List.of() : code.methods(type);
        boolean unparks = methods.stream().anyMatch(method -> {
            boolean found = false;
            for (Call call : method.calls()) {
                found |= call.member().name().equals("unpark");
            }
            return found;
        });
        return !methods.isEmpty() && !unparks;
    }

    private static boolean isParkForTime(StackTraceElement frame) {
        return frame.getClassName().equals("java.util.concurrent.locks.LockSupport") && frame.getMethodName().equals("parkNanos");
    }

    private static boolean isSleep(StackTraceElement frame) {
        return frame.getClassName().equals("java.lang.Thread") && frame.getMethodName().equals("sleep") || isParkForTime(frame);
    }

    /** The place after the JDK's frames at the top. */
    private static int afterJdk(StackTraceElement[] frames) {
        int at = 0;
        while (at < frames.length && Code.isJdk(frames[at].getClassName())) {
            at++;
        }
        return at;
    }

    /** Where one of the last threads was that came the same way and was past the loop in which this one sleeps; null for none. */
    String past(ThreadStack poller) {
        StackTraceElement[] frames = poller.frames();
        int loop = loopAt(frames);
        return loop < 0 ? null : elsewhere.reversed().stream().filter(other -> isPast(frames, loop, other.frames())).map(Elsewhere::place)
                .findFirst().orElse(null);
    }

    /** The place of the frame with the loop; -1 for none. */
    private int loopAt(StackTraceElement[] frames) {
        int at = afterJdk(frames);
        boolean sleeps = false;
        for (int i = 0; i < at; i++) {
            sleeps |= isSleep(frames[i]);
        }
        if (!sleeps) {
            return at < frames.length && isInKnownLoop(frames[at]) ? at : -1;
        }
        for (int helpers = 0; at < frames.length && helpers <= MOST_HELPERS; at++, helpers++) {
            Loop loop = loop(Place.of(frames, at));
            if (loop == null || !loop.isHelper()) {
                return loop == null ? -1 : at;
            }
        }
        return -1;
    }

    /** One that spins before it sleeps is in the same loop. */
    private boolean isInKnownLoop(StackTraceElement frame) {
        Place here = new Place(frame, null);
        return loops.entrySet().stream().anyMatch(known -> known.getKey().isInMethodOf(here)
                && known.getValue().filter(loop -> loop.lines().get(Math.max(0, frame.getLineNumber()))).isPresent());
    }

    private Loop loop(Place place) {
        Optional<Loop> known = loops.get(place);
        if (known == null) {
            known = Optional.ofNullable(read(place));
            loops.put(place, known);
        }
        return known.orElse(null);
    }

    /** Null for none. */
    private Loop read(Place place) {
        MethodFlow flow = flow(place.frame());
        Call call = flow == null ? null : flow.callAtLine(place.frame().getLineNumber(), place.called());
        String returned = call == null ? "" : call.member().descriptor().substring(call.member().descriptor().indexOf(')'));
        if (!returned.equals(")V") && !returned.equals(")Z")) {
            return null;
        }
        BitSet loop = flow.loopOf(call);
        if (loop.isEmpty()) {
            return call.variables().isEmpty() ? null : new Loop(true, new BitSet());
        }
        BitSet lines = new BitSet();
        loop.stream().map(flow::lineOf).filter(line -> line > 0).forEach(lines::set);
        return flow.onlyChecks(loop, call) ? new Loop(false, lines) : null;
    }

    /** From where their ways part, in a method of the application. */
    private boolean isPast(StackTraceElement[] waiting, int loop, StackTraceElement[] other) {
        int at = waiting.length - 1;
        int there = other.length - 1;
        // Two calls may be on one line.
        while (at > loop && there > 0 && Place.of(waiting, at).equals(Place.of(other, there))) {
            at--;
            there--;
        }
        if (there < 0 || !Code.isApplication(waiting[at].getClassName())) {
            return false;
        }
        Passage passage = new Passage(Place.of(waiting, at), Place.of(other, there));
        Boolean known = passages.get(passage);
        if (known == null) {
            known = !passage.waiting().equals(passage.other()) && passage.waiting().isInMethodOf(passage.other())
                    && (at > loop || !isInKnownLoop(passage.other().frame())) && mayFollow(passage);
            passages.put(passage, known);
        }
        return known;
    }

    private boolean mayFollow(Passage passage) {
        MethodFlow flow = flow(passage.waiting().frame());
        StackTraceElement other = passage.other().frame();
        Call call = flow == null || !flow.hasLine(other.getLineNumber()) ? null
                : flow.callAtLine(passage.waiting().frame().getLineNumber(), passage.waiting().called());
        return call != null && flow.isAt(flow.after(call), other.getLineNumber(), passage.other().called());
    }

    private MethodFlow flow(StackTraceElement frame) {
        return code() == null ? null : code.flow(frame);
    }

    /** Null where code was read often enough. */
    private LoadedCode code() {
        if (code == null && looks++ < MOST_LOOKS) {
            code = new LoadedCode(classes);
        }
        return code;
    }
}
