package dev.threadcount.avatar;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** Who runs the handlers of an {@link com.sun.net.httpserver.HttpServer}. */
enum ThreadModel {
    /** The one thread that accepts connections and reads requests also answers them: the server's default. */
    SINGLE {
        @Override
        Executor executor() {
            return null;
        }
    },
    /** A platform thread for each request in progress; idle ones are kept for a minute. */
    CACHED {
        @Override
        Executor executor() {
            return Executors.newCachedThreadPool(Thread.ofPlatform().name("avatar-", 1).factory());
        }
    },
    /** A virtual thread for each request. */
    VIRTUAL {
        @Override
        Executor executor() {
            return Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("avatar-", 1).factory());
        }
    };

    /** What {@link com.sun.net.httpserver.HttpServer#setExecutor} wants; null is its default. */
    abstract Executor executor();
}
