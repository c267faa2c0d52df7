package dev.threadcount.probe.stacks;

/**
 * Frames that mean something.
 *
 * @param type a class, or the beginning of its name if it ends in {@code *}
 * @param methods names of methods, or the beginnings of them; none for any method
 */
record Mark(String type, String... methods) {
    boolean matches(StackTraceElement frame) {
        String name = frame.getClassName();
        boolean isType = type.endsWith("*") ? name.startsWith(type.substring(0, type.length() - 1)) : name.equals(type);
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
