package dev.threadcount.probe.stacks;

/** Whose code a frame is: the JDK's, a known library's, or the application's. */
public final class Code {
    private static final Libraries LIBRARIES = Libraries.read();

    /** While a crossover lasts, below each request, and on Jetty's selectors; so not in the file that the diagnosis reads as well. */
    private static final String CROSSOVER = "dev.threadcount.probe.crossover.";

    /** In the name of the class that Spring makes of a bean's, for transactions and the like. */
    private static final String SPRING_PROXY = "$$SpringCGLIB$$";

    private Code() {}

    static boolean isJdk(StackTraceElement frame) {
        return isJdk(frame.getClassName());
    }

    /** By the name of its class. */
    public static boolean isJdk(String type) {
        return startsWithAny(type, LIBRARIES.jdk());
    }

    static boolean isApplication(StackTraceElement frame) {
        return isApplication(frame.getClassName());
    }

    /** By the name of its class. */
    public static boolean isApplication(String type) {
        return !isJdk(type) && !type.startsWith(CROSSOVER)
                && (!startsWithAny(type, LIBRARIES.others()) || startsWithAny(type, LIBRARIES.samples()));
    }

    /** A server's own, by the name of its class; clients of the same libraries are left out. */
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

    /** Class, method and line; without the line where the class file has none. A bean's proxy is named as the bean. */
    public static String name(String type, String method, int line) {
        int proxy = type.indexOf(SPRING_PROXY);
        String place = (proxy < 0 ? type : type.substring(0, proxy)) + "." + method;
        return line > 0 ? place + ":" + line : place;
    }
}
