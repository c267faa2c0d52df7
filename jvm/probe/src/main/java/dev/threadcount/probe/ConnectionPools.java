package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.management.ObjectName;

/** Finds pools of connections that have no bean, through the scheduled task by which a pool keeps itself in order. */
final class ConnectionPools {
    /** The number of tasks from which a pool is searched. There may be thousands, such as time limits of requests. */
    private static final int MOST_SEARCHED = 500;
    /** The number of tasks of one executor that are followed, because a server has one task for each of its connections. */
    private static final int MOST_FOLLOWED = 200;
    /** The largest number of pools of one library. A client has a pool for each address. */
    private static final int MOST_POOLS = 50;
    /** The number of looks after which a pool that was not found is gone. A task is in no queue while it runs. */
    private static final int MOST_MISSED = 2;

    /** A pool that was found. If several have one name, those found later get a number after it. */
    private static final class Found {
        final PoolLibrary library;
        final Reference<Object> pool;
        final String name;
        int missed;

        Found(PoolLibrary library, Object pool, String name) {
            this.library = library;
            // A weak reference, because the application may drop the pool.
            this.pool = new WeakReference<>(pool);
            this.name = name;
        }
    }

    private final JvmAccess jvm;
    private final List<Found> known = new ArrayList<>();

    /** @param jvm null if this JVM does not show its threads; then no pool is found */
    ConnectionPools(JvmAccess jvm) {
        this.jvm = jvm;
    }

    /** Looks for new pools, and forgets those that are gone. */
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
            // This is a pool of another version, or one that is just being made, which the next look will find.
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

    /** Writes one line per pool, except for those of HikariCP that are read through a bean. */
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
