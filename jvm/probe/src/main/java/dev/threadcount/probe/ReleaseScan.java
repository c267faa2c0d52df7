package dev.threadcount.probe;

import dev.threadcount.probe.SemaphoreCalls.Calls;
import java.util.HashMap;
import java.util.Map;

/**
 * Whether who waits for a permit of a semaphore gives it back. Where it does not, the semaphore may be a signal, for which idle
 * workers wait for good reason; they may give permits of another one, as a signal to the next.
 */
final class ReleaseScan {
    private static final Calls NONE = new Calls();

    private final LoadedCode code;
    private final Map<String, Map<String, Calls>> known = new HashMap<>();

    ReleaseScan(LoadedCode code) {
        this.code = code;
    }

    /** Whether a method of a program on this stack gives permits of the semaphore back that the first of them waits for. */
    boolean isGivenBackOn(StackTraceElement[] stack) {
        Calls taker = null;
        for (StackTraceElement frame : stack) {
            Calls calls = "java.base".equals(frame.getModuleName()) ? NONE
                    : known.computeIfAbsent(frame.getClassName(), this::callsOf).getOrDefault(frame.getMethodName(), NONE);
            taker = taker == null && !calls.taken().isEmpty() ? calls : taker;
            if (taker == null ? !calls.given().isEmpty() : gives(calls, taker)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the two may concern the same semaphore. */
    static boolean gives(Calls giver, Calls taker) {
        boolean isSameMethod = giver == taker;
        return giver.given().stream().anyMatch(given -> taker.taken().stream().anyMatch(taken -> isSameMethod
                ? mayBeSame(given, taken) : mayBeSame(lastField(given), lastField(taken))));
    }

    /** A variable may hold what a field does; two variables, or two fields, are two semaphores. */
    private static boolean mayBeSame(String one, String other) {
        boolean isOneField = one.indexOf('>') >= 0;
        boolean isOtherField = other.indexOf('>') >= 0;
        return one.equals(SemaphoreCalls.UNKNOWN) || other.equals(SemaphoreCalls.UNKNOWN) || isOneField != isOtherField
                || one.equals(other);
    }

    /** Another method has variables of its own, and may have another object's. */
    private static String lastField(String semaphore) {
        int last = semaphore.lastIndexOf('>');
        return last < 0 ? SemaphoreCalls.UNKNOWN : semaphore.substring(last);
    }

    private Map<String, Calls> callsOf(String className) {
        ClassFile file = code.file(className);
        try {
            return file == null ? Map.of() : SemaphoreCalls.of(file);
        } catch (RuntimeException unreadable) {
            return Map.of();
        }
    }
}
