package dev.threadcount.probe;

import java.util.List;
import java.util.Map;

/**
 * Describes where the pools of a library keep their figures. A path consists of public fields and methods without
 * parameters; the values of several paths are added up.
 *
 * @param pool the class of the pool
 * @param tasks the prefixes of the classes of its scheduled tasks
 * @param poolPaths paths to the pool from an object that a task has captured; if empty, the pool is searched for
 * @param name a path to its name, or to an object of whoever made it; empty if it has none
 * @param bean a path to the name of its bean, which may be read instead; empty if there is none
 */
record PoolLibrary(String kind, String pool, List<String> tasks, List<String> poolPaths, String name, String bean, List<String> busy, String max,
        List<String> size, String queued) {
    static final List<PoolLibrary> ALL = List.of(
            new PoolLibrary("hikari", "com.zaxxer.hikari.pool.HikariPool", List.of("com.zaxxer.hikari.pool.HikariPool$HouseKeeper"), List.of(),
                    "toString", "",
                    List.of("getActiveConnections"), "config.getMaximumPoolSize", List.of("getTotalConnections"), "getThreadsAwaitingConnection"),
            new PoolLibrary("tomcat-jdbc", "org.apache.tomcat.jdbc.pool.ConnectionPool",
                    List.of("org.apache.tomcat.jdbc.pool.ConnectionPool$PoolCleaner"), List.of(), "getName", "",
                    List.of("getActive"), "getPoolProperties.getMaxActive", List.of("getSize"), "getWaitCount"),
            new PoolLibrary("agroal", "io.agroal.pool.ConnectionPool",
                    List.of("io.agroal.pool.ConnectionPool$ReapTask", "io.agroal.pool.ConnectionPool$ValidationTask",
                            "io.agroal.pool.ConnectionPool$LeakTask"), List.of(), "", "",
                    List.of("activeCount"), "getConfiguration.maxSize", List.of("activeCount", "availableCount"), "awaitingCount"),
            new PoolLibrary("reactor-pool", "reactor.pool.SimpleDequePool", List.of("reactor.core.scheduler."), List.of(),
                    "config.destroyHandler", "",
                    List.of("acquiredSize"), "getMaxAllocatedSize", List.of("allocatedSize"), "pendingAcquireSize"),
            new PoolLibrary("commons-pool2", "org.apache.commons.pool2.impl.GenericObjectPool",
                    List.of("org.apache.commons.pool2.impl.EvictionTimer$WeakRunner", "org.apache.commons.pool2.impl.BaseGenericObjectPool$Evictor"),
                    List.of(), "getFactory", "getJmxName",
                    List.of("getNumActive"), "getMaxTotal", List.of("getNumActive", "getNumIdle"), "getNumWaiters"),
            // Each endpoint, also one of a server, has a task that checks whether it is idle.
            new PoolLibrary("jetty-client", "org.eclipse.jetty.client.transport.HttpDestination", List.of("org.eclipse.jetty.io.IdleTimeout$$Lambda"),
                    List.of("getConnection.getHttpDestination", "getConnection.getSslEndPoint.getConnection.getHttpDestination"), "asString", "",
                    List.of("getConnectionPool.getActiveConnectionCount"), "getConnectionPool.getMaxConnectionCount",
                    List.of("getConnectionPool.getConnectionCount"), "getQueuedRequestCount"));

    /** Libraries whose code makes a pool of another library: the prefix of their classes, and their name. */
    private static final Map<String, String> MAKERS =
            Map.of("io.r2dbc.pool.", "r2dbc-pool", "org.apache.commons.dbcp2.", "commons-dbcp2");

    /** Whether a pool of some library may have scheduled a task of this class. */
    static boolean isOfAPool(String task) {
        return ofTask(task) != null;
    }

    /** The library that schedules tasks of this class, or null. */
    static PoolLibrary ofTask(String name) {
        for (PoolLibrary library : ALL) {
            if (library.tasks.stream().anyMatch(name::startsWith)) {
                return library;
            }
        }
        return null;
    }

    /** Whether the pool is searched for, because no path leads to it. */
    boolean isSearchedFor() {
        return poolPaths.isEmpty();
    }

    /** The name of a pool, from the object to which the path to its name leads. */
    String nameOf(Object found) {
        if (found instanceof String ownName) {
            return ownName;
        }
        String maker = found == null ? "" : found.getClass().getName();
        return MAKERS.entrySet().stream().filter(one -> maker.startsWith(one.getKey())).map(Map.Entry::getValue)
                .findFirst().orElse(kind);
    }
}
