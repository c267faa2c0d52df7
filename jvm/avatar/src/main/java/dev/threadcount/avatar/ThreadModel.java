package dev.threadcount.avatar;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** The threads on which an {@link com.sun.net.httpserver.HttpServer} runs its handlers. */
enum ThreadModel {
    /** The server's default: the thread that accepts connections and reads requests also handles them. */
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

    /** The argument for {@link com.sun.net.httpserver.HttpServer#setExecutor}; null is the server's default. */
    abstract Executor executor();
}
