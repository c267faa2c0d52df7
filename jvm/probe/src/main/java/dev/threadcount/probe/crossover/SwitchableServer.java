package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.util.concurrent.Executor;

/** A server in this JVM whose requests can be moved to other threads while it runs. */
interface SwitchableServer {
    /** The port it listens on. */
    int port();

    /** Name and version. */
    String product();

    /** The executor it was configured with. */
    Executor own();

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
