package dev.threadcount.probe.inside;

import dev.threadcount.probe.stacks.Keeper;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

/**
 * Finds the fields that keep the objects for which threads wait. It reads field after field, starting from static fields and from the
 * objects with which threads were started. It neither walks the heap nor stops a thread.
 */
final class HeapSearch {
    private static final int MOST_OBJECTS = 200_000;
    private static final int MOST_NEARBY = 20_000;
    private static final int BYTES_PER_OBJECT = 60;
    private static final long MOST_NS = 1_000_000_000;
    private static final int MOST_ELEMENTS = 10_000;
    private static final Field[] NONE = {};
    /** The JDK's packages whose fields are followed: collections and tasks, its server, and the connections that selectors serve. */
    private static final List<String> OPENED =
            List.of("java.util.", "sun.net.httpserver.", "java.nio.channels.", "sun.nio.ch.Select", "sun.nio.ch.EPollSelector");

    private final Map<Class<?>, Field[]> fieldsOf = new HashMap<>();
    private final String own;
    private final int most;
    private final Object[] objects;
    /** For each object the index of the object that refers to it, and the field of the reference, which is null within an array. */
    private final int[] parents;
    private final Field[] by;
    /** A hash table from an object's identity to its index plus one. */
    private final int[] table;
    private int size;

    /** @param own the prefix of the names of classes whose objects are left out, because they belong to this search */
    HeapSearch(String own) {
        this(own, MOST_OBJECTS);
    }

    private HeapSearch(String own, int mostObjects) {
        this.own = own;
        Runtime runtime = Runtime.getRuntime();
        long free = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
        most = (int) Math.min(mostObjects, free / 4 / BYTES_PER_OBJECT);
        objects = new Object[most];
        parents = new int[most];
        by = new Field[most];
        table = new int[Integer.highestOneBit(Math.max(2, most)) * 4];
    }

    /** A search for near objects, which takes less memory. */
    static HeapSearch nearby(String own) {
        return new HeapSearch(own, MOST_NEARBY);
    }

    /** The keeper of each wanted object that is found. */
    Map<Object, Keeper> keepers(List<Class<?>> classes, Collection<Object> roots, Set<Object> wanted) {
        long end = System.nanoTime() + MOST_NS;
        for (Object root : roots) {
            add(root, -1, null);
        }
        for (Class<?> type : classes) {
            for (Field field : fields(type, true)) {
                add(value(field, null), -1, field);
            }
        }
        Map<Object, Keeper> found = new IdentityHashMap<>();
        for (int at = 0; at < size && found.size() < wanted.size() && System.nanoTime() < end; at++) {
            Object object = objects[at];
            if (wanted.contains(object)) {
                found.put(object, new Keeper(path(at), collection(at), root(at)));
            }
            if (object instanceof Object[] array) {
                for (int i = 0; i < Math.min(array.length, MOST_ELEMENTS); i++) {
                    add(array[i], at, null);
                }
                continue;
            }
            for (Class<?> type = object.getClass(); type != null && isWalked(type); type = type.getSuperclass()) {
                for (Field field : fields(type, false)) {
                    add(value(field, object), at, field);
                }
            }
        }
        return found;
    }

    private List<String> path(int from) {
        List<String> path = new ArrayList<>();
        boolean isInQueue = false;
        for (int at = from; at >= 0; at = parents[at]) {
            Field field = by[at];
            String owner = field == null ? "" : field.getDeclaringClass().getName();
            boolean isOfQueue = isNamedQueue(owner) && isForElements(field.getType());
            if (isInQueue && field != null && !isOfQueue) {
                Object holder = parents[at] < 0 ? null : objects[parents[at]];
                if (!isOfJdk(owner)) {
                    path.add(owner + "." + field.getName());
                } else if (holder instanceof Executor) {
                    path.add(holder.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(holder)));
                }
            }
            isInQueue = isOfQueue;
        }
        return path;
    }

    /** The field of the nearest collection, map or array. */
    private String collection(int from) {
        boolean isInside = false;
        for (int at = from; at >= 0; at = parents[at]) {
            Field field = by[at];
            String owner = field == null ? "" : field.getDeclaringClass().getName();
            boolean isPart = field == null ? parents[at] >= 0 : isCollection(owner);
            if (isInside && !isPart) {
                return field == null || isOfJdk(owner) ? null : owner + "." + field.getName();
            }
            isInside = isPart;
        }
        return null;
    }

    private static boolean isCollection(String owner) {
        return owner.startsWith("java.util.") && Stream.of("Map", "Queue", "Deque", "List", "Set").anyMatch(owner.split("\\$")[0]::endsWith);
    }

    private Object root(int from) {
        int at = from;
        while (parents[at] >= 0) {
            at = parents[at];
        }
        return by[at] == null ? objects[at] : null;
    }

    private static boolean isOfJdk(String owner) {
        return owner.startsWith("java.") || owner.startsWith("sun.");
    }

    private static boolean isNamedQueue(String owner) {
        return owner.contains("Queue") || owner.contains("Deque") || owner.startsWith("java.util.LinkedList");
    }

    /**
     * Whether a field may contain elements: anything, many objects, or nodes that lead to further ones. A queue's own locks do not count,
     * nor the results of a service for queues.
     */
    private boolean isForElements(Class<?> type) {
        return type == Object.class || type.isArray() || Collection.class.isAssignableFrom(type) || isNode(type);
    }

    private boolean isNode(Class<?> type) {
        for (Class<?> owner = type; owner != null && owner != Object.class; owner = owner.getSuperclass()) {
            for (Field field : fields(owner, false)) {
                if (field.getType() != Object.class && !field.getType().isInterface() && field.getType().isAssignableFrom(type)) {
                    return true;
                }
            }
        }
        return false;
    }

    private void add(Object object, int parent, Field field) {
        if (object == null || size == most || !(object instanceof Object[]) && !isWalked(object.getClass())
                || object instanceof Thread || object instanceof ClassLoader || object instanceof Reference<?>) {
            return;
        }
        int place = System.identityHashCode(object) & table.length - 1;
        while (table[place] != 0) {
            if (objects[table[place] - 1] == object) {
                return;
            }
            place = place + 1 & table.length - 1;
        }
        objects[size] = object;
        parents[size] = parent;
        by[size] = field;
        table[place] = ++size;
    }

    private boolean isWalked(Class<?> type) {
        String name = type.getName();
        boolean isOfJdk = name.startsWith("java.") || name.startsWith("jdk.") || name.startsWith("sun.") || name.startsWith("com.sun.");
        return isOfJdk ? OPENED.stream().anyMatch(name::startsWith) : !name.startsWith(own);
    }

    private Field[] fields(Class<?> type, boolean isStatic) {
        if (!isStatic) {
            return fieldsOf.computeIfAbsent(type, any -> open(type, false));
        }
        return open(type, true);
    }

    private static Field[] open(Class<?> type, boolean isStatic) {
        try {
            return Arrays.stream(type.getDeclaredFields()).filter(field -> Modifier.isStatic(field.getModifiers()) == isStatic
                    && !field.getType().isPrimitive() && field.getType() != String.class && field.trySetAccessible()).toArray(Field[]::new);
        } catch (RuntimeException | LinkageError unreadable) {
            return NONE;
        }
    }

    private static Object value(Field field, Object of) {
        try {
            return field.get(of);
        } catch (IllegalAccessException | RuntimeException closed) {
            return null;
        }
    }
}
