package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.management.AttributeNotFoundException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/** Reads thread and connection pools over JMX, and pools of connections that are not in JMX. */
final class Pools {
    /** A kind of pool, and where it keeps its figures. Names of attributes are null if it does not have them. */
    private record Kind(String name, ObjectName pattern, String busy, String max, String size, String queued) {}

    private static final Kind[] KINDS = {
        new Kind("tomcat", pattern("*:type=ThreadPool,name=*"),
                "currentThreadsBusy", "maxThreads", "currentThreadCount", null),
        new Kind("tomcat-executor", pattern("*:type=Executor,name=*"), "activeCount", "maxThreads", "poolSize", "queueSize"),
        new Kind("jetty", pattern("org.eclipse.jetty.util.thread:type=queuedthreadpool,*"),
                "busyThreads", "maxThreads", "threads", "queueSize"),
        new Kind("hikari", pattern("com.zaxxer.hikari:type=Pool (*)"),
                "ActiveConnections", null, "TotalConnections", "ThreadsAwaitingConnection"),
        new Kind("commons-pool2", pattern("org.apache.commons.pool2:type=GenericObjectPool,*"),
                "NumActive", "MaxTotal", null, "NumWaiters"),
    };

    /** The number of readings after which all names are read again, even if no bean seems to have come or gone. */
    private static final int READINGS_BETWEEN_LOOKS = 10;

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final List<Pool> known = new ArrayList<>();
    private final ConnectionPools connectionPools;
    private int beansThen = -1;
    private int readingsSince;

    /** @param label the pool's own name */
    private record Pool(Kind kind, ObjectName name, String label) {}

    /** @param jvm null if this JVM does not show its threads */
    Pools(JvmAccess jvm) {
        connectionPools = new ConnectionPools(jvm);
    }

    /** Writes one line per pool. */
    void writeTo(Output output, long timeNs) {
        lookAgainIfBeansCameOrWent();
        for (Pool pool : known) {
            try {
                output.write(line(pool, timeNs));
            } catch (InstanceNotFoundException goneMeanwhile) {
                // The pool was closed since the query.
                beansThen = -1;
            } catch (JMException | RuntimeException itsOwn) {
                // MBeanServer wraps an exception that the bean itself throws (RuntimeMBeanException). The other pools
                // are read nevertheless.
                output.write(JsonLine.of("problem", timeNs).put("what", pool.name().toString()).put("why", itsOwn.toString()));
            }
        }
        connectionPools.writeTo(output, timeNs, hikariNames());
    }

    /**
     * Queries the names only if needed, because a query reads every bean, and a server may have hundreds: half of the cost of a reading.
     */
    private void lookAgainIfBeansCameOrWent() {
        int beans = server.getMBeanCount();
        readingsSince++;
        if (beans == beansThen && readingsSince < READINGS_BETWEEN_LOOKS) {
            return;
        }
        beansThen = beans;
        readingsSince = 0;
        known.clear();
        for (Kind kind : KINDS) {
            server.queryNames(kind.pattern(), null).forEach(name -> known.add(new Pool(kind, name, label(name))));
        }
        connectionPools.lookAgain();
    }

    /** Whether the bean of this name is read. */
    static boolean isRead(ObjectName bean) {
        return Arrays.stream(KINDS).anyMatch(kind -> kind.pattern().apply(bean));
    }

    private JsonLine line(Pool pool, long timeNs) throws JMException {
        Kind kind = pool.kind();
        ObjectName name = pool.name();
        return JsonLine.of("pool", timeNs)
                .put("kind", kind.name())
                .put("name", pool.label())
                .put("busy", number(name, kind.busy()))
                .put("max", kind.name().equals("hikari") ? hikariMax(name) : number(name, kind.max()))
                .put("size", number(name, kind.size()))
                .put("queued", number(name, kind.queued()));
    }

    /** The own names of HikariCP's pools that are registered. */
    private Set<String> hikariNames() {
        return known.stream().filter(pool -> pool.kind().name().equals("hikari"))
                .map(Pool::label).collect(Collectors.toSet());
    }

    private static ObjectName pattern(String written) {
        try {
            return new ObjectName(written);
        } catch (MalformedObjectNameException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static String label(ObjectName pool) {
        Map<String, String> keys = pool.getKeyPropertyList();
        String name = keys.getOrDefault("name", keys.getOrDefault("id", keys.get("type")));
        // HikariCP names its bean after its pool.
        return (name.startsWith("\"") ? ObjectName.unquote(name) : name).replaceFirst("^Pool \\((.*)\\)$", "$1");
    }

    /** The figure, or -1 if the pool has none (as Tomcat reports for an executor that it does not know). */
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

    /** HikariCP keeps its maximum size in the bean of its configuration. */
    private long hikariMax(ObjectName pool) throws JMException {
        String name = pool.getKeyProperty("type").replaceFirst("^Pool ", "PoolConfig ");
        ObjectName config = new ObjectName(pool.getDomain() + ":type=" + name);
        return server.isRegistered(config) ? number(config, "MaximumPoolSize") : -1;
    }
}
