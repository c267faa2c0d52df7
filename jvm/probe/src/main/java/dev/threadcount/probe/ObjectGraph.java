package dev.threadcount.probe;

import java.lang.ref.WeakReference;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Leads from one object of the application to others. It keeps their classes, so it must live for one look only. */
final class ObjectGraph {
    /** The number of steps from a task, through what it has captured, to a pool. */
    private static final int STEPS = 3;
    /** The time limit of a waiting request leads to its pool too, but only while the request waits. */
    private static final String WAITING = "reactor.pool.AbstractPool$Borrower";

    private record Named(Class<?> owner, String name) {}

    /** The members of classes. Most of hundreds of tasks have captured an object of the same class. */
    private final Map<Named, Optional<AccessibleObject>> members = new HashMap<>();

    /** Follows a path of public fields and methods without parameters. Returns null if a step gives null or does not exist. */
    Object follow(Object from, String path) throws ReflectiveOperationException {
        Object at = from;
        for (String step : path.split("\\.")) {
            AccessibleObject member = at == null ? null : member(at.getClass(), step).orElse(null);
            at = member instanceof Method method ? method.invoke(at) : member instanceof Field field ? field.get(at) : null;
        }
        return at;
    }

    private Optional<AccessibleObject> member(Class<?> owner, String name) {
        return members.computeIfAbsent(new Named(owner, name), ObjectGraph::find);
    }

    private static Optional<AccessibleObject> find(Named named) {
        for (Method method : named.owner().getMethods()) {
            if (method.getParameterCount() == 0 && method.getName().equals(named.name())) {
                method.setAccessible(true);
                return Optional.of(method);
            }
        }
        for (Field field : named.owner().getFields()) {
            if (field.getName().equals(named.name())) {
                field.setAccessible(true);
                return Optional.of(field);
            }
        }
        return Optional.empty();
    }

    /** The nearest object of this class within a few steps, or null. */
    static Object search(Object from, String type) {
        List<Object> reached = List.of(from);
        for (int step = 0; step <= STEPS; step++) {
            List<Object> next = new ArrayList<>();
            for (Object at : reached) {
                if (at.getClass().getName().equals(type)) {
                    return at;
                }
                next.addAll(referred(at));
            }
            reached = next;
        }
        return null;
    }

    /** The objects in the fields of an object of the application. */
    static List<Object> referred(Object from) {
        List<Object> found = new ArrayList<>();
        if (from instanceof WeakReference<?> reference) {
            Object referred = reference.get();
            return referred == null ? found : List.of(referred);
        }
        for (Class<?> owner = from.getClass(); owner != null && !owner.getName().startsWith("java."); owner = owner.getSuperclass()) {
            if (owner.getName().equals(WAITING)) {
                return found;
            }
            for (Field field : owner.getDeclaredFields()) {
                Object value = field.getType().isPrimitive() || Modifier.isStatic(field.getModifiers()) ? null : value(field, from);
                if (value != null) {
                    found.add(value);
                }
            }
        }
        return found;
    }

    private static Object value(Field field, Object of) {
        try {
            field.setAccessible(true);
            return field.get(of);
        } catch (ReflectiveOperationException | RuntimeException closed) {
            // Its module is not open.
            return null;
        }
    }
}
