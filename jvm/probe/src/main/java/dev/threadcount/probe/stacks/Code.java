package dev.threadcount.probe.stacks;

/** Decides to whom the code of a frame belongs: to the JDK, a known library, or the application. */
public final class Code {
    private static final Libraries LIBRARIES = Libraries.read();

    /**
     * While a crossover lasts, these classes are below each request, and on Jetty's selectors. They are not in the file that the diagnosis
     * reads too.
     */
    private static final String CROSSOVER = "dev.threadcount.probe.crossover.";

    /** A part of the name of the class that Spring makes from a bean's class, for transactions and the like. */
    private static final String SPRING_PROXY = "$$SpringCGLIB$$";

    private Code() {}

    static boolean isJdk(StackTraceElement frame) {
        return isJdk(frame.getClassName());
    }

    /** Whether the class with this name belongs to the JDK. */
    public static boolean isJdk(String type) {
        return startsWithAny(type, LIBRARIES.jdk());
    }

    static boolean isApplication(StackTraceElement frame) {
        return isApplication(frame.getClassName());
    }

    /** Whether the class with this name belongs to the application. */
    public static boolean isApplication(String type) {
        return !isJdk(type) && !type.startsWith(CROSSOVER)
                && (!startsWithAny(type, LIBRARIES.others()) || startsWithAny(type, LIBRARIES.samples()));
    }

    /** Whether the class with this name belongs to a server. Clients of the same libraries are left out. */
    public static boolean isServers(String type) {
        return startsWithAny(type, LIBRARIES.servers()) && !type.contains(".client.");
    }

    static boolean startsWithAny(String type, String[] prefixes) {
        for (String prefix : prefixes) {
            if (type.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    static String name(StackTraceElement frame) {
        return name(frame.getClassName(), frame.getMethodName(), frame.getLineNumber());
    }

    /** Class, method and line. The line is left out if the class file has none. A proxy has the name of its bean. */
    public static String name(String type, String method, int line) {
        int proxy = type.indexOf(SPRING_PROXY);
        String place = (proxy < 0 ? type : type.substring(0, proxy)) + "." + method;
        return line > 0 ? place + ":" + line : place;
    }
}
