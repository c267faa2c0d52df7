package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.management.ObjectName;

/** Pools of connections that need no bean: the scheduled task by which a pool keeps itself in order leads to it. */
final class ConnectionPools {
    /** A pool is searched for from so many tasks; there may be thousands, such as time limits of requests. */
    private static final int MOST_SEARCHED = 500;
    /** So many tasks of an executor are followed: a server has one for each of its connections. */
    private static final int MOST_FOLLOWED = 200;
    /** Of a library. A client has a pool for each address. */
    private static final int MOST_POOLS = 50;
    /** A task is in no queue while it runs. */
    private static final int MOST_MISSED = 2;

    /** Several may have one name: those found later have a number behind it. */
    private static final class Found {
        final PoolLibrary library;
        final Reference<Object> pool;
        final String name;
        int missed;

        Found(PoolLibrary library, Object pool, String name) {
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
        var graph = new ObjectGraph();
        int searched = 0;
        for (List<Object> tasks : jvm == null ? List.<List<Object>>of() : jvm.scheduledTasks(PoolLibrary::isOfAPool)) {
            int followed = 0;
            for (Object task : tasks) {
                PoolLibrary library = PoolLibrary.ofTask(task.getClass().getName());
                if (library.isSearchedFor() ? searched++ < MOST_SEARCHED : followed++ < MOST_FOLLOWED) {
                    addPoolOf(task, library, graph);
                }
            }
        }
        known.removeIf(found -> found.missed > MOST_MISSED || found.pool.get() == null);
    }

    private void addPoolOf(Object task, PoolLibrary library, ObjectGraph graph) {
        try {
            Object pool = library.isSearchedFor() ? ObjectGraph.search(task, library.pool()) : poolOf(task, library, graph);
            if (pool == null || isReadAsBean(library, pool, graph)) {
                return;
            }
            for (Found found : known) {
                if (found.pool.refersTo(pool)) {
                    found.missed = 0;
                    return;
                }
            }
            List<Found> ofLibrary = known.stream().filter(it -> it.library == library).toList();
            if (ofLibrary.size() < MOST_POOLS) {
                String name = library.nameOf(library.name().isEmpty() ? null : graph.follow(pool, library.name()));
                long alike = ofLibrary.stream().filter(it -> it.name.equals(name) || it.name.startsWith(name + " #")).count();
                known.add(new Found(library, pool, alike == 0 ? name : name + " #" + (alike + 1)));
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError another) {
            // A pool of another version, or one that is being made: the next look will see it.
        }
    }

    private static Object poolOf(Object task, PoolLibrary library, ObjectGraph graph) throws ReflectiveOperationException {
        for (Object captured : ObjectGraph.referred(task)) {
            for (String path : library.poolPaths()) {
                Object pool = graph.follow(captured, path);
                if (pool != null) {
                    return pool;
                }
            }
        }
        return null;
    }

    private static boolean isReadAsBean(PoolLibrary library, Object pool, ObjectGraph graph) throws ReflectiveOperationException {
        return !library.bean().isEmpty() && graph.follow(pool, library.bean()) instanceof ObjectName bean && Pools.isRead(bean);
    }

    /** One line per pool, but for those of HikariCP of which this is the name of a bean. */
    void writeTo(Output output, long timeNs, Set<String> hikariBeans) {
        var graph = new ObjectGraph();
        for (Found found : known) {
            Object pool = found.pool.get();
            if (pool == null || found.library.kind().equals("hikari") && hikariBeans.contains(found.name)) {
                continue;
            }
            try {
                output.write(line(found, pool, graph, timeNs));
            } catch (ReflectiveOperationException | RuntimeException | LinkageError another) {
                output.write(JsonLine.of("problem", timeNs).put("what", found.library.pool()).put("why", another.toString()));
            }
        }
    }

    private static JsonLine line(Found found, Object pool, ObjectGraph graph, long timeNs) throws ReflectiveOperationException {
        PoolLibrary library = found.library;
        return JsonLine.of("pool", timeNs)
                .put("kind", library.kind())
                .put("name", found.name)
                .put("busy", sum(pool, library.busy(), graph))
                .put("max", sum(pool, List.of(library.max()), graph))
                .put("size", sum(pool, library.size(), graph))
                .put("queued", sum(pool, List.of(library.queued()), graph));
    }

    private static long sum(Object pool, List<String> paths, ObjectGraph graph) throws ReflectiveOperationException {
        long sum = 0;
        for (String path : paths) {
            if (!(graph.follow(pool, path) instanceof Number number)) {
                throw new NoSuchFieldException(path);
            }
            sum += number.longValue();
        }
        return sum;
    }
}
