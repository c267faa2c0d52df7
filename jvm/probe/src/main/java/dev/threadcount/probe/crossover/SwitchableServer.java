package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.util.concurrent.Executor;

/** A server in this JVM whose requests can be moved to other threads while it runs. */
interface SwitchableServer {
    /** The identity of this server. */
    Identity identity();

    /**
     * A server, as it was found.
     *
     * @param port the port on which it listens
     * @param product name and version
     * @param own the executor with which it was configured
     */
    record Identity(int port, String product, Executor own) {
        @Override
        public String toString() {
            return product + " on port " + port;
        }
    }

    /** The port on which the server listens. */
    default int port() {
        return identity().port();
    }

    /** Its name and version. */
    default String product() {
        return identity().product();
    }

    /** The executor with which it was configured. */
    default Executor own() {
        return identity().own();
    }

    /** The context class loader of its own threads. */
    ClassLoader context();

    /**
     * Makes the server hand its tasks to ours instead of its own executor.
     *
     * @throws IllegalStateException when the server's executor is no longer the one that was found
     */
    void install(RequestExecutor requests);

    /** Makes the server hand its tasks to its own executor again. If something else has replaced ours, that stays. */
    void uninstall();

    /** Why the crossover of this server is over, as a sentence. Null while the server runs and uses our executor. */
    String whyOver();

    /** Adds what only this kind of server has: its name, its threads, and what is not switched. */
    JsonLine describe(JsonLine line);
}
