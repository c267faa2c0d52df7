package dev.threadcount.probe.crossover;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;

/** The fields of servers and of the JDK, by name. Modules are opened to this class's module where they have to be. */
final class PrivateFields {
    private final Instrumentation instrumentation;

    PrivateFields(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** The value of an object's field, in whichever of its classes that is. */
    Object get(Object from, String name) throws ReflectiveOperationException {
        return field(from.getClass(), name).get(from);
    }

    /** Sets an object's field, also a final one. */
    void set(Object in, String name, Object value) throws ReflectiveOperationException {
        field(in.getClass(), name).set(in, value);
    }

    private Field field(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
            try {
                Field field = owner.getDeclaredField(name);
                open(owner);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException inherited) {
                // The next one has it.
            }
        }
        throw new NoSuchFieldException(type.getName() + "." + name);
    }

    /** A field that is compared and set. */
    VarHandle handle(Class<?> owner, String name, Class<?> type) throws ReflectiveOperationException {
        open(owner);
        return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).findVarHandle(owner, name, type);
    }

    /** What a public method without parameters returns; null where there is none. */
    Object call(Object target, String name) throws ReflectiveOperationException {
        Method method;
        try {
            method = target.getClass().getMethod(name);
        } catch (NoSuchMethodException none) {
            return null;
        }
        open(method.getDeclaringClass());
        method.setAccessible(true);
        return method.invoke(target);
    }

    private void open(Class<?> owner) {
        Module module = owner.getModule();
        if (module.isNamed() && !module.isOpen(owner.getPackageName(), PrivateFields.class.getModule())) {
            instrumentation.redefineModule(module, Set.of(), Map.of(),
                    Map.of(owner.getPackageName(), Set.of(PrivateFields.class.getModule())), Set.of(), Map.of());
        }
    }

    /** The class of this name among an object's classes; null for none. */
    static Class<?> superclass(Class<?> type, String name) {
        Class<?> at = type;
        while (at != null && !at.getName().equals(name)) {
            at = at.getSuperclass();
        }
        return at;
    }
}
