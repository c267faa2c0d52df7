package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Pools of connections that need no bean: the scheduled task by which a pool keeps itself in order leads to it. */
final class ConnectionPools {
    /**
     * Where a library's pool has its figures. A path is of public fields and methods without parameters; what several lead to is added up.
     *
     * @param pool its class
     * @param tasks how the names of the classes of its scheduled tasks begin
     * @param name a path to its name, or to an object of whoever made it; none: it has none
     */
    private record Library(String kind, String pool, String tasks, String name, List<String> busy, String max, List<String> size,
            List<String> queued) {}

    private static final Library[] LIBRARIES = {
        new Library("hikari", "com.zaxxer.hikari.pool.HikariPool", "com.zaxxer.hikari.pool.HikariPool$", "toString",
                List.of("getActiveConnections"), "config.getMaximumPoolSize", List.of("getTotalConnections"),
                List.of("getThreadsAwaitingConnection")),
        new Library("tomcat-jdbc", "org.apache.tomcat.jdbc.pool.ConnectionPool", "org.apache.tomcat.jdbc.pool.ConnectionPool$", "getName",
                List.of("getActive"), "getPoolProperties.getMaxActive", List.of("getSize"), List.of("getWaitCount")),
        new Library("agroal", "io.agroal.pool.ConnectionPool", "io.agroal.pool.ConnectionPool$", "", List.of("activeCount"),
                "getConfiguration.maxSize", List.of("activeCount", "availableCount"), List.of("awaitingCount")),
        new Library("reactor-pool", "reactor.pool.SimpleDequePool", "reactor.core.scheduler.", "config.destroyHandler",
                List.of("acquiredSize"), "getMaxAllocatedSize", List.of("allocatedSize"), List.of("pendingAcquireSize")),
    };

    /** Who makes pools of reactor-pool, by the packages of its code. */
    private static final String[][] MAKERS = {{"io.r2dbc.pool.", "r2dbc-pool"}, {"reactor.netty.", "reactor-netty"}};

    /** From a task over what it has captured to the pool. */
    private static final int STEPS = 3;
    /** An application may have thousands, such as time limits of its requests. */
    private static final int MOST_TASKS = 500;

    private record Found(Library library, Reference<Object> pool) {}

    private final JvmAccess jvm;
    private final List<Found> known = new ArrayList<>();

    /** @param jvm null where this JVM does not show its threads: no pool is found then */
    ConnectionPools(JvmAccess jvm) {
        this.jvm = jvm;
    }

    /** Looks for pools that came, and forgets those that are gone. */
    void lookAgain() {
        known.clear();
        List<Object> tasks = jvm == null ? List.of() : jvm.scheduledTasks();
        for (Object task : tasks.subList(0, Math.min(tasks.size(), MOST_TASKS))) {
            for (Library library : LIBRARIES) {
                boolean is = task.getClass().getName().startsWith(library.tasks());
                Object pool = is ? search(task, library.pool(), STEPS) : null;
                if (pool != null && known.stream().noneMatch(it -> it.pool().refersTo(pool))) {
                    // An application may close it.
                    known.add(new Found(library, new WeakReference<>(pool)));
                }
            }
        }
    }

    /** One line per pool, but for those of which this is the name of a bean. */
    void writeTo(Output output, long timeNs, Set<String> beans) {
        for (Found found : known) {
            Object pool = found.pool().get();
            try {
                if (pool != null && !beans.contains(name(found.library(), pool))) {
                    output.write(line(found.library(), pool, timeNs));
                }
            } catch (ReflectiveOperationException | RuntimeException another) {
                output.write(JsonLine.of("problem", timeNs).put("what", found.library().pool()).put("why", another.toString()));
            }
        }
    }

    private static JsonLine line(Library library, Object pool, long timeNs) throws ReflectiveOperationException {
        return JsonLine.of("pool", timeNs)
                .put("kind", library.kind())
                .put("name", name(library, pool))
                .put("busy", sum(pool, library.busy()))
                .put("max", sum(pool, List.of(library.max())))
                .put("size", sum(pool, library.size()))
                .put("queued", sum(pool, library.queued()));
    }

    private static String name(Library library, Object pool) throws ReflectiveOperationException {
        Object name = library.name().isEmpty() ? null : follow(pool, library.name());
        if (name == null || name instanceof String) {
            return name == null ? library.kind() : (String) name;
        }
        for (String[] maker : MAKERS) {
            if (name.getClass().getName().startsWith(maker[0])) {
                return maker[1];
            }
        }
        return library.kind();
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

    /** An object of this class among what an object refers to, in so many steps; null for none. */
    private static Object search(Object from, String type, int steps) {
        Object at = from instanceof Reference<?> reference ? reference.get() : from;
        if (at == null || at.getClass().getName().equals(type)) {
            return at;
        }
        if (steps == 0) {
            return null;
        }
        for (Class<?> owner = at.getClass(); owner != null && !owner.getName().startsWith("java."); owner = owner.getSuperclass()) {
            for (Field field : owner.getDeclaredFields()) {
                Object found = field.getType().isPrimitive() ? null : search(value(field, at), type, steps - 1);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
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
