package dev.threadcount.probe.inside;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Reads fields of the JDK's classes by name. A field need not exist in each JVM. Any thread may call it. */
final class JdkFields {
    private record Named(Class<?> owner, String name) {}

    private final Map<Named, Optional<Field>> known = new ConcurrentHashMap<>();

    /** The value, or null if the field is null, does not exist, or is closed. */
    Object of(Object object, String name) {
        try {
            Optional<Field> field = known.computeIfAbsent(new Named(object.getClass(), name), JdkFields::find);
            return field.isPresent() ? field.get().get(object) : null;
        } catch (IllegalAccessException closed) {
            return null;
        }
    }

    private static Optional<Field> find(Named named) {
        for (Class<?> owner = named.owner(); owner != null; owner = owner.getSuperclass()) {
            // A class of the application may have a field with this name.
            if (owner.getClassLoader() != null) {
                continue;
            }
            try {
                Field field = owner.getDeclaredField(named.name());
                field.setAccessible(true);
                return Optional.of(field);
            } catch (NoSuchFieldException inherited) {
                continue;
            } catch (RuntimeException closed) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }
}
