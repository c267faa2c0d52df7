package dev.threadcount.probe.stacks;

/** What a thread does, told from its stack alone. */
public final class Classifier {
    private static final Mark[] CLASS_LOADING = {
        new Mark("java.lang.ClassLoader", "loadClass", "defineClass", "getClassLoadingLock"),
        new Mark("jdk.internal.loader.*", "loadClass", "findClass", "defineClass"),
        new Mark("org.apache.catalina.loader.WebappClassLoaderBase", "loadClass", "findClass"),
        new Mark("org.springframework.boot.loader.*", "loadClass"),
    };

    /** Event loops and connectors read from sockets that do not block. */
    private static final String[] NEVER_BLOCKS = {
        "org.apache.tomcat.util.net.", "org.eclipse.jetty.io.", "io.netty.", "org.xnio.", "io.undertow.", "org.apache.hc.core5.reactor."
    };

    /** Clients and reactive libraries, as the report calls them where a thread waits for a result of theirs. */
    private static final String[][] RESULTS_OF = {
        {"jdk.internal.net.http.", "java.net.http.HttpClient"},
        // It waits by itself for what the client does asynchronously.
        {"org.springframework.http.client.JdkClientHttpRequest", "java.net.http.HttpClient"},
        {"reactor.core.", "Reactor"},
        {"org.eclipse.jetty.client.", "Jetty HttpClient"},
        {"org.eclipse.jetty.", "Jetty"},
        {"io.netty.", "Netty"},
        {"org.apache.hc.", "Apache HttpClient"},
        {"io.lettuce.", "Lettuce"},
        {"com.mongodb.", "MongoDB driver"},
        {"io.grpc.", "gRPC"},
        {"okhttp3.", "OkHttp"},
    };

    private Classifier() {}

    /** To the JVM a platform thread in native code runs: whether it waits is known to the kernel alone. */
    public static boolean mayWaitInNative(ThreadStack stack) {
        return !stack.virtual() && stack.isInNative();
    }

    /** What this thread does, as far as the JVM knows. */
    public static Activity classify(ThreadStack stack) {
        return classify(stack, false);
    }

    /**
     * What this thread does.
     *
     * @param waitsInNative whether the kernel says that it waits
     */
    public static Activity classify(ThreadStack stack, boolean waitsInNative) {
        StackTraceElement[] frames = stack.frames();
        int application = 0;
        while (application < frames.length && !Code.isApplication(frames[application])) {
            application++;
        }
        int library = afterJdk(frames);
        Role role = Roles.of(frames, application);
        State state = state(stack, library, application, waitsInNative);
        return new Activity(state, resource(state, stack, library, application),
                application < frames.length ? Code.name(frames[application]) : null,
                library < application ? Code.name(frames[library]) : null, role);
    }

    /** The place after the JDK's frames at the top. */
    private static int afterJdk(StackTraceElement[] frames) {
        int place = 0;
        while (place < frames.length && Code.isJdk(frames[place])) {
            place++;
        }
        return place;
    }

    private static State state(ThreadStack stack, int library, int application, boolean waitsInNative) {
        StackTraceElement[] frames = stack.frames();
        if (stack.virtual() && !stack.mounted() && stack.state() == Thread.State.RUNNABLE) {
            return State.CARRIER;
        }
        if (stack.state() == Thread.State.BLOCKED) {
            return State.MONITOR;
        }
        if (Mark.any(CLASS_LOADING, frames, 0, application)) {
            return State.CLASS_LOADING;
        }
        int place = Waits.place(frames, library);
        State wait = place < 0 ? null : Waits.stateOf(frames[place]);
        if (!stack.isBlocked()) {
            return stack.isInNative() ? inNative(wait, stack, library, waitsInNative) : State.RUNNING;
        }
        if (wait != State.SOCKET && wait != State.CONNECT && PoolMarks.nameOf(frames, library, application) != null) {
            return State.POOL;
        }
        if (wait != null) {
            return wait;
        }
        return resultOf(frames, application) != null || isOfResult(frames, library) ? State.FUTURE : State.WAIT;
    }

    /** @param wait what the frames wait for; null for nothing that is known */
    private static State inNative(State wait, ThreadStack stack, int library, boolean waitsInNative) {
        boolean waits = wait != null && switch (wait) {
            case FILE, NAME_LOOKUP -> true;
            case SELECT -> !stack.virtual();
            // What an event loop reads is there already.
            case SOCKET, CONNECT -> !stack.virtual() && !isEventLoop(stack.frames(), library);
            // It seldom blocks.
            case SOCKET_WRITE -> waitsInNative;
            default -> false;
        };
        if (waits) {
            return wait;
        }
        return wait == null && waitsInNative ? State.NATIVE : State.RUNNING;
    }

    private static boolean isEventLoop(StackTraceElement[] frames, int library) {
        return library < frames.length && Code.startsWithAny(frames[library].getClassName(), NEVER_BLOCKS);
    }

    /** A class of its own, by its name. */
    private static boolean isOfResult(StackTraceElement[] frames, int library) {
        String type = library < frames.length ? frames[library].getClassName() : "";
        return type.endsWith("Future") || type.endsWith("Promise");
    }

    private static String resource(State state, ThreadStack stack, int library, int application) {
        StackTraceElement[] frames = stack.frames();
        return switch (state) {
            case POOL -> PoolMarks.nameOf(frames, library, application);
            case MONITOR -> stack.blocker() == null ? null : stack.blocker().getClass().getName();
            case LOCK, SEMAPHORE, QUEUE -> outer(frames[Waits.lowestPlace(frames, library)].getClassName());
            case FUTURE -> {
                String result = resultOf(frames, application);
                int place = Waits.place(frames, library);
                yield result != null || place < 0 && !isOfResult(frames, library) ? result
                        : outer(frames[place < 0 ? library : place].getClassName());
            }
            case NATIVE -> frames[0].getClassName();
            case WAIT -> stack.blocker() == null ? null : outer(stack.blocker().getClass().getName());
            default -> null;
        };
    }

    private static String resultOf(StackTraceElement[] frames, int application) {
        // Below the frame in which a server begins a request it is the server's.
        for (int i = 0; i < application && !Roles.beginsRequest(frames[i]); i++) {
            for (String[] result : RESULTS_OF) {
                if (frames[i].getClassName().startsWith(result[0])) {
                    return result[1];
                }
            }
        }
        return null;
    }

    /** The class that a programmer knows: of {@code ReentrantReadWriteLock$WriteLock} the first part. */
    private static String outer(String type) {
        int nested = type.indexOf('$');
        return nested > 0 ? type.substring(0, nested) : type;
    }
}
