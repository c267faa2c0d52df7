package dev.threadcount.probe.stacks;

/**
 * A pattern for frames that have a meaning.
 *
 * @param type a class, or the prefix of its name
 * @param isPrefix whether it is a prefix
 * @param methods names of methods, or their prefixes; none for any method
 */
record Mark(String type, boolean isPrefix, String... methods) {
    /** @param pattern a class, or the prefix of its name and {@code *} */
    Mark(String pattern, String... methods) {
        this(pattern.endsWith("*") ? pattern.substring(0, pattern.length() - 1) : pattern, pattern.endsWith("*"), methods);
    }

    boolean matches(StackTraceElement frame) {
        String name = frame.getClassName();
        boolean isType = isPrefix ? name.startsWith(type) : name.equals(type);
        if (!isType || methods.length == 0) {
            return isType;
        }
        for (String method : methods) {
            if (frame.getMethodName().startsWith(method)) {
                return true;
            }
        }
        return false;
    }

    static boolean any(Mark[] marks, StackTraceElement[] frames, int from, int to) {
        for (int i = from; i < to; i++) {
            for (Mark mark : marks) {
                if (mark.matches(frames[i])) {
                    return true;
                }
            }
        }
        return false;
    }
}
