package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.util.concurrent.Executor;

/** A server in this JVM whose requests can be moved to other threads while it runs. */
interface SwitchableServer {
    /** Which server this is. */
    Identity identity();

    /**
     * A server, as it was found.
     *
     * @param port the port it listens on
     * @param product name and version
     * @param own the executor it was configured with
     */
    record Identity(int port, String product, Executor own) {
        @Override
        public String toString() {
            return product + " on port " + port;
        }
    }

    /** The port it listens on. */
    default int port() {
        return identity().port();
    }

    /** Name and version. */
    default String product() {
        return identity().product();
    }

    /** The executor it was configured with. */
    default Executor own() {
        return identity().own();
    }

    /** The context class loader of its own threads. */
    ClassLoader context();

    /**
     * Has the server hand its tasks to ours instead of its own executor.
     *
     * @throws IllegalStateException when the server's executor is no longer the one that was found
     */
    void install(RequestExecutor requests);

    /** Has the server hand its tasks to its own executor again. Where something else took our place, that stays. */
    void uninstall();

    /** Why this is over, as a sentence; null while the server runs and ours is in its place. */
    String whyOver();

    /** Adds what only this kind of server has: its name, its threads, what it does not move. */
    JsonLine describe(JsonLine line);
}
