package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Pools of connections that need no bean: the scheduled task by which a pool keeps itself in order leads to it. */
final class ConnectionPools {
    /**
     * Where a library's pool has its figures. A figure is the sum of what public methods without parameters return.
     *
     * @param pool its class; its scheduled tasks are nested classes of it
     * @param name the method with its name; null: it has none
     * @param max a path to the largest number of connections, by public fields and methods
     */
    private record Library(String kind, String pool, String name, List<String> busy, List<String> size, List<String> queued,
            List<String> max) {}

    private static final Library[] LIBRARIES = {
        new Library("hikari", "com.zaxxer.hikari.pool.HikariPool", "toString", List.of("getActiveConnections"),
                List.of("getTotalConnections"), List.of("getThreadsAwaitingConnection"), List.of("config", "getMaximumPoolSize")),
        new Library("tomcat-jdbc", "org.apache.tomcat.jdbc.pool.ConnectionPool", "getName", List.of("getActive"),
                List.of("getSize"), List.of("getWaitCount"), List.of("getPoolProperties", "getMaxActive")),
        new Library("agroal", "io.agroal.pool.ConnectionPool", null, List.of("activeCount"),
                List.of("activeCount", "availableCount"), List.of("awaitingCount"), List.of("getConfiguration", "maxSize")),
    };

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
        for (Object task : jvm == null ? List.of() : jvm.scheduledTasks()) {
            for (Library library : LIBRARIES) {
                Object pool = poolOf(task, library);
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
        Object max = pool;
        for (String step : library.max()) {
            max = member(max, step);
        }
        return JsonLine.of("pool", timeNs)
                .put("kind", library.kind())
                .put("name", name(library, pool))
                .put("busy", sum(pool, library.busy()))
                .put("max", ((Number) max).longValue())
                .put("size", sum(pool, library.size()))
                .put("queued", sum(pool, library.queued()));
    }

    private static String name(Library library, Object pool) throws ReflectiveOperationException {
        return library.name() == null ? library.kind() : String.valueOf(member(pool, library.name()));
    }

    private static long sum(Object pool, List<String> methods) throws ReflectiveOperationException {
        long sum = 0;
        for (String method : methods) {
            sum += ((Number) member(pool, method)).longValue();
        }
        return sum;
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

    /** The pool that a task belongs to; null: it is no task of such a pool. */
    private static Object poolOf(Object task, Library library) {
        if (!task.getClass().getName().startsWith(library.pool() + "$")) {
            return null;
        }
        return Stream.of(task.getClass().getDeclaredFields())
                .map(field -> value(field, task))
                .map(value -> value instanceof Reference<?> reference ? reference.get() : value)
                .filter(value -> value != null && value.getClass().getName().equals(library.pool()))
                .findFirst().orElse(null);
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
