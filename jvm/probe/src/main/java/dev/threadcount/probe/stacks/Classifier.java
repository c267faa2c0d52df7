package dev.threadcount.probe.stacks;

/** Derives the activity of a thread from its stack alone. */
public final class Classifier {
    private static final Mark[] CLASS_LOADING = {
        new Mark("java.lang.ClassLoader", "loadClass", "defineClass", "getClassLoadingLock"),
        new Mark("jdk.internal.loader.*", "loadClass", "findClass", "defineClass"),
        new Mark("org.apache.catalina.loader.WebappClassLoaderBase", "loadClass", "findClass"),
        new Mark("org.springframework.boot.loader.*", "loadClass"),
    };

    /** The packages of event loops and connectors, whose sockets do not block. */
    private static final String[] NEVER_BLOCKS = {
        "org.apache.tomcat.util.net.", "org.eclipse.jetty.io.", "io.netty.", "org.xnio.", "io.undertow.", "org.apache.hc.core5.reactor."
    };

    /** Clients and reactive libraries, with the names that the report gives them when a thread waits for their results. */
    private static final String[][] RESULTS_OF = {
        {"jdk.internal.net.http.", "java.net.http.HttpClient"},
        // This class itself waits for what the client does asynchronously.
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

    /** Whether the kernel must be asked if the thread waits. For the JVM, a platform thread in native code runs. */
    public static boolean mayWaitInNative(ThreadStack stack) {
        return !stack.virtual() && stack.isInNative();
    }

    /** The activity of a thread, as far as the JVM knows. */
    public static Activity classify(ThreadStack stack) {
        return classify(stack, false);
    }

    /**
     * The activity of a thread.
     *
     * @param waitsInNative whether it waits according to the kernel
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

    /** The index of the first frame, from the top, that does not belong to the JDK. */
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

    /** @param wait what the frames wait for; null if nothing is known */
    private static State inNative(State wait, ThreadStack stack, int library, boolean waitsInNative) {
        boolean waits = wait != null && switch (wait) {
            case FILE, NAME_LOOKUP -> true;
            case SELECT -> !stack.virtual();
            // The data that an event loop reads have already arrived.
            case SOCKET, CONNECT -> !stack.virtual() && !isEventLoop(stack.frames(), library);
            // A write seldom blocks, so the kernel decides.
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

    /** Whether the library waits in its own class for a result, judging by the name of the class. */
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
        // Frames below the one in which a server begins a request belong to the server.
        for (int i = 0; i < application && !Roles.beginsRequest(frames[i]); i++) {
            for (String[] result : RESULTS_OF) {
                if (frames[i].getClassName().startsWith(result[0])) {
                    return result[1];
                }
            }
        }
        return null;
    }

    /** The class that a programmer knows, for example the first part of {@code ReentrantReadWriteLock$WriteLock}. */
    private static String outer(String type) {
        int nested = type.indexOf('$');
        return nested > 0 ? type.substring(0, nested) : type;
    }
}
