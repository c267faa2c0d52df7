package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.management.ObjectName;

/** Pools of connections that need no bean: the scheduled task by which a pool keeps itself in order leads to it. */
final class ConnectionPools {
    /**
     * Where a library's pool has its figures. A path is of public fields and methods without parameters; what several lead to is added up.
     *
     * @param pool its class
     * @param tasks how the names of the classes of its scheduled tasks begin
     * @param name a path to its name, or to an object of whoever made it; empty: it has none
     * @param bean a path to the name of its bean, which may be read instead; empty: it is known in another way
     */
    private record Library(String kind, String pool, List<String> tasks, String name, String bean, List<String> busy, String max,
            List<String> size, String queued) {}

    private static final Library[] LIBRARIES = {
        new Library("hikari", "com.zaxxer.hikari.pool.HikariPool", List.of("com.zaxxer.hikari.pool.HikariPool$HouseKeeper"), "toString", "",
                List.of("getActiveConnections"), "config.getMaximumPoolSize", List.of("getTotalConnections"), "getThreadsAwaitingConnection"),
        new Library("tomcat-jdbc", "org.apache.tomcat.jdbc.pool.ConnectionPool",
                List.of("org.apache.tomcat.jdbc.pool.ConnectionPool$PoolCleaner"), "getName", "",
                List.of("getActive"), "getPoolProperties.getMaxActive", List.of("getSize"), "getWaitCount"),
        new Library("agroal", "io.agroal.pool.ConnectionPool",
                List.of("io.agroal.pool.ConnectionPool$ReapTask", "io.agroal.pool.ConnectionPool$ValidationTask",
                        "io.agroal.pool.ConnectionPool$LeakTask"), "", "",
                List.of("activeCount"), "getConfiguration.maxSize", List.of("activeCount", "availableCount"), "awaitingCount"),
        new Library("reactor-pool", "reactor.pool.SimpleDequePool", List.of("reactor.core.scheduler."), "config.destroyHandler", "",
                List.of("acquiredSize"), "getMaxAllocatedSize", List.of("allocatedSize"), "pendingAcquireSize"),
        new Library("commons-pool2", "org.apache.commons.pool2.impl.GenericObjectPool",
                List.of("org.apache.commons.pool2.impl.EvictionTimer$WeakRunner", "org.apache.commons.pool2.impl.BaseGenericObjectPool$Evictor"),
                "getFactory", "getJmxName",
                List.of("getNumActive"), "getMaxTotal", List.of("getNumActive", "getNumIdle"), "getNumWaiters"),
    };

    /** Whose code makes a pool of another library's: how the names of its classes begin, and its own. */
    private static final Map<String, String> MAKERS =
            Map.of("io.r2dbc.pool.", "r2dbc-pool", "org.apache.commons.dbcp2.", "commons-dbcp2");
    /** The time limit of a request that waits leads to its pool, too, but only while it waits. */
    private static final String WAITING = "reactor.pool.AbstractPool$Borrower";

    /** From a task over what it has captured to the pool. */
    private static final int STEPS = 3;
    /** Of a scheduler there may be thousands, such as time limits of requests. */
    private static final int MOST_TASKS = 500;
    /** A task is in no queue while it runs. */
    private static final int MOST_MISSED = 2;

    /** Several may have one name: those found later have a number behind it. */
    private static final class Found {
        final Library library;
        final Reference<Object> pool;
        final String name;
        int missed;

        Found(Library library, Object pool, String name) {
            this.library = library;
            // An application may close it.
            this.pool = new WeakReference<>(pool);
            this.name = name;
        }
    }

    private final JvmAccess jvm;
    private final List<Found> known = new ArrayList<>();

    /** @param jvm null where this JVM does not show its threads: no pool is found then */
    ConnectionPools(JvmAccess jvm) {
        this.jvm = jvm;
    }

    /** Looks for pools that came, and forgets those that are gone. */
    void lookAgain() {
        known.forEach(found -> found.missed++);
        List<Object> tasks = jvm == null ? List.of() : jvm.scheduledTasks(ConnectionPools::isOfAPool);
        for (Object task : tasks.subList(0, Math.min(tasks.size(), MOST_TASKS))) {
            for (Library library : LIBRARIES) {
                if (isOf(library, task.getClass().getName())) {
                    addPoolOf(task, library);
                }
            }
        }
        known.removeIf(found -> found.missed > MOST_MISSED || found.pool.get() == null);
    }

    private void addPoolOf(Object task, Library library) {
        try {
            Object pool = search(task, library.pool());
            if (pool == null || isReadAsBean(library, pool)) {
                return;
            }
            for (Found found : known) {
                if (found.pool.refersTo(pool)) {
                    found.missed = 0;
                    return;
                }
            }
            String name = name(library, pool);
            long alike = known.stream().filter(it -> it.library == library && (it.name.equals(name) || it.name.startsWith(name + " #"))).count();
            known.add(new Found(library, pool, alike == 0 ? name : name + " #" + (alike + 1)));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError another) {
            // A pool of another version, or one that is being made: the next look will see it.
        }
    }

    private static boolean isReadAsBean(Library library, Object pool) throws ReflectiveOperationException {
        return !library.bean().isEmpty() && follow(pool, library.bean()) instanceof ObjectName bean && Pools.isRead(bean);
    }

    /** One line per pool, but for those of HikariCP of which this is the name of a bean. */
    void writeTo(Output output, long timeNs, Set<String> hikariBeans) {
        for (Found found : known) {
            Object pool = found.pool.get();
            if (pool == null || found.library.kind().equals("hikari") && hikariBeans.contains(found.name)) {
                continue;
            }
            try {
                output.write(line(found, pool, timeNs));
            } catch (ReflectiveOperationException | RuntimeException | LinkageError another) {
                output.write(JsonLine.of("problem", timeNs).put("what", found.library.pool()).put("why", another.toString()));
            }
        }
    }

    private static JsonLine line(Found found, Object pool, long timeNs) throws ReflectiveOperationException {
        Library library = found.library;
        return JsonLine.of("pool", timeNs)
                .put("kind", library.kind())
                .put("name", found.name)
                .put("busy", sum(pool, library.busy()))
                .put("max", sum(pool, List.of(library.max())))
                .put("size", sum(pool, library.size()))
                .put("queued", sum(pool, List.of(library.queued())));
    }

    private static String name(Library library, Object pool) throws ReflectiveOperationException {
        Object name = library.name().isEmpty() ? null : follow(pool, library.name());
        if (name instanceof String itsOwn) {
            return itsOwn;
        }
        String maker = name == null ? "" : name.getClass().getName();
        return MAKERS.entrySet().stream().filter(one -> maker.startsWith(one.getKey())).map(Map.Entry::getValue)
                .findFirst().orElse(library.kind());
    }

    private static boolean isOfAPool(String task) {
        for (Library library : LIBRARIES) {
            if (isOf(library, task)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOf(Library library, String task) {
        return library.tasks().stream().anyMatch(task::startsWith);
    }

    private static long sum(Object pool, List<String> paths) throws ReflectiveOperationException {
        long sum = 0;
        for (String path : paths) {
            sum += ((Number) follow(pool, path)).longValue();
        }
        return sum;
    }

    private static Object follow(Object from, String path) throws ReflectiveOperationException {
        Object at = from;
        for (String step : path.split("\\.")) {
            at = member(at, step);
        }
        return at;
    }

    /** What a public method without parameters returns, or a public field holds. */
    private static Object member(Object of, String name) throws ReflectiveOperationException {
        for (Method method : of.getClass().getMethods()) {
            if (method.getParameterCount() == 0 && method.getName().equals(name)) {
                method.setAccessible(true);
                return method.invoke(of);
            }
        }
        Field field = of.getClass().getField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    /** The nearest object of this class in so many steps from a task; null for none. */
    private static Object search(Object task, String type) {
        List<Object> reached = List.of(task);
        for (int step = 0; step <= STEPS; step++) {
            List<Object> next = new ArrayList<>();
            for (Object at : reached) {
                if (at.getClass().getName().equals(type)) {
                    return at;
                }
                addReferred(at, next);
            }
            reached = next;
        }
        return null;
    }

    private static void addReferred(Object from, List<Object> found) {
        if (from instanceof WeakReference<?> reference) {
            Object referred = reference.get();
            if (referred != null) {
                found.add(referred);
            }
            return;
        }
        for (Class<?> owner = from.getClass(); owner != null && !owner.getName().startsWith("java."); owner = owner.getSuperclass()) {
            if (owner.getName().equals(WAITING)) {
                return;
            }
            for (Field field : owner.getDeclaredFields()) {
                Object value = field.getType().isPrimitive() || Modifier.isStatic(field.getModifiers()) ? null : value(field, from);
                if (value != null) {
                    found.add(value);
                }
            }
        }
    }

    private static Object value(Field field, Object of) {
        try {
            field.setAccessible(true);
            return field.get(of);
        } catch (ReflectiveOperationException | RuntimeException closed) {
            // A module that is not open.
            return null;
        }
    }
}
