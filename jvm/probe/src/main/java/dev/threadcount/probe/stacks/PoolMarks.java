package dev.threadcount.probe.stacks;

/**
 * Recognizes pools of connections by the frames of a thread that waits for one. The first frame outside the JDK must belong to the pool
 * itself: if a thread has its connection or opens one, the driver's frames are above.
 */
final class PoolMarks {
    /**
     * @param name the name in the report
     * @param top the first frame outside the JDK
     * @param below one of the library's frames from there to the application; null if the first frame is enough
     */
    private record Pool(String name, Mark top, Mark below) {}

    private static final Pool[] POOLS = {
        new Pool("HikariCP", new Mark("com.zaxxer.hikari.util.ConcurrentBag", "borrow"), null),
        new Pool("Tomcat JDBC", new Mark("org.apache.tomcat.jdbc.pool.*"),
                new Mark("org.apache.tomcat.jdbc.pool.ConnectionPool", "borrowConnection")),
        new Pool("commons-dbcp2", new Mark("org.apache.commons.pool2.*"), new Mark("org.apache.commons.dbcp2.*")),
        new Pool("Jedis", new Mark("org.apache.commons.pool2.*"), new Mark("redis.clients.jedis.*")),
        new Pool("Lettuce", new Mark("org.apache.commons.pool2.*"), new Mark("io.lettuce.*")),
        new Pool("commons-pool2", new Mark("org.apache.commons.pool2.*"),
                new Mark("org.apache.commons.pool2.impl.*", "borrowObject")),
        new Pool("Agroal", new Mark("io.agroal.pool.*"), new Mark("io.agroal.pool.*", "getConnection")),
        new Pool("c3p0", new Mark("com.mchange.v2.resourcepool.BasicResourcePool", "awaitAvailable"), null),
        new Pool("Oracle UCP", new Mark("oracle.ucp.*"), new Mark("oracle.ucp.*", "getConnection", "borrow")),
        // A thread that waits for a response has the pool's frames below those of the connection.
        new Pool("MongoDB driver", new Mark("com.mongodb.internal.connection.ConcurrentPool*"), null),
        new Pool("MongoDB driver", new Mark("com.mongodb.internal.connection.DefaultConnectionPool$OpenConcurrencyLimiter*"), null),
        new Pool("Apache HttpClient", new Mark("org.apache.hc.core5.*"),
                new Mark("org.apache.hc.client5.http.impl.*", "acquireEndpoint", "connectionRequest")),
        new Pool("Apache HttpClient 4", new Mark("org.apache.http.pool.AbstractConnPool*"), null),
    };

    private PoolMarks() {}

    /** The pool for which a blocked thread waits, or null. */
    static String nameOf(StackTraceElement[] frames, int library, int application) {
        if (library >= application) {
            return null;
        }
        for (Pool pool : POOLS) {
            if (pool.top().matches(frames[library])
                    && (pool.below() == null || Mark.any(new Mark[] {pool.below()}, frames, library, application))) {
                return pool.name();
            }
        }
        return null;
    }
}
