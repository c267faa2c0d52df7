package dev.threadcount.avatar;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** The threads of the handlers of an {@link com.sun.net.httpserver.HttpServer}. */
enum ThreadModel {
    /** The one thread that accepts connections and reads requests also handles them: the server's default. */
    SINGLE {
        @Override
        Executor executor() {
            return null;
        }
    },
    /** A platform thread per request in progress; idle ones are kept for a minute. */
    CACHED {
        @Override
        Executor executor() {
            return Executors.newCachedThreadPool(Thread.ofPlatform().name("avatar-", 1).factory());
        }
    },
    /** A virtual thread per request. */
    VIRTUAL {
        @Override
        Executor executor() {
            return Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("avatar-", 1).factory());
        }
    };

    /** What {@link com.sun.net.httpserver.HttpServer#setExecutor} wants; null is its default. */
    abstract Executor executor();
}
