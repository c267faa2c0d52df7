package dev.threadcount.probe;

import java.lang.management.ManagementFactory;
import java.util.Map;
import javax.management.AttributeNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Thread and connection pools that show themselves over JMX. */
final class Pools {
    /** Where a kind of pool keeps its figures. Attribute names are null where it has none. */
    private record Kind(String name, String pattern, String busy, String max, String size, String queued) {}

    private static final Kind[] KINDS = {
        new Kind("tomcat", "*:type=ThreadPool,name=*",
                "currentThreadsBusy", "maxThreads", "currentThreadCount", null),
        new Kind("tomcat-executor", "*:type=Executor,name=*", "activeCount", "maxThreads", "poolSize", "queueSize"),
        new Kind("jetty", "org.eclipse.jetty.util.thread:type=queuedthreadpool,*",
                "busyThreads", "maxThreads", "threads", "queueSize"),
        new Kind("hikari", "com.zaxxer.hikari:type=Pool (*)",
                "ActiveConnections", null, "TotalConnections", "ThreadsAwaitingConnection"),
    };

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    /** Writes one line for each pool that is there now. */
    void writeTo(Output output, long timeNs) {
        for (Kind kind : KINDS) {
            try {
                for (ObjectName pool : server.queryNames(new ObjectName(kind.pattern()), null)) {
                    output.write(line(kind, pool, timeNs));
                }
            } catch (JMException goneMeanwhile) {
                // A pool that was closed between the query and the reading has nothing to say any more.
            }
        }
    }

    private JsonLine line(Kind kind, ObjectName pool, long timeNs) throws JMException {
        return JsonLine.of("pool", timeNs)
                .put("kind", kind.name())
                .put("name", name(pool))
                .put("busy", number(pool, kind.busy()))
                .put("max", kind.name().equals("hikari") ? hikariMax(pool) : number(pool, kind.max()))
                .put("size", number(pool, kind.size()))
                .put("queued", number(pool, kind.queued()));
    }

    private static String name(ObjectName pool) {
        Map<String, String> keys = pool.getKeyPropertyList();
        String name = keys.getOrDefault("name", keys.getOrDefault("id", keys.get("type")));
        return name.startsWith("\"") ? ObjectName.unquote(name) : name;
    }

    /** The figure, or -1 where the pool has none (Tomcat says so itself for an executor that it cannot look into). */
    private long number(ObjectName pool, String attribute) throws JMException {
        if (attribute == null) {
            return -1;
        }
        try {
            return server.getAttribute(pool, attribute) instanceof Number number ? number.longValue() : -1;
        } catch (AttributeNotFoundException another) {
            return -1;
        }
    }

    /** HikariCP keeps its size in the bean of its configuration. */
    private long hikariMax(ObjectName pool) throws JMException {
        String name = pool.getKeyProperty("type").replaceFirst("^Pool ", "PoolConfig ");
        ObjectName config = new ObjectName(pool.getDomain() + ":type=" + name);
        return server.isRegistered(config) ? number(config, "MaximumPoolSize") : -1;
    }
}
