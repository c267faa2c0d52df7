package dev.threadcount.probe.crossover;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;

/** Reads and sets fields of servers and of the JDK by name. Modules are opened to this class's module if needed. */
final class PrivateFields {
    private final Instrumentation instrumentation;

    PrivateFields(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** The value of an object's field, from whichever of its classes has it. */
    Object get(Object from, String name) throws ReflectiveOperationException {
        return field(from.getClass(), name).get(from);
    }

    /** Sets an object's field, even if it is final. */
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
                // A superclass may have the field.
            }
        }
        throw new NoSuchFieldException(type.getName() + "." + name);
    }

    /** A handle to compare and set a field. */
    VarHandle handle(Class<?> owner, String name, Class<?> type) throws ReflectiveOperationException {
        open(owner);
        return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).findVarHandle(owner, name, type);
    }

    /** The result of a public method without parameters, or null if there is no such method. */
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

    /** The superclass with this name, or null. */
    static Class<?> superclass(Class<?> type, String name) {
        Class<?> at = type;
        while (at != null && !at.getName().equals(name)) {
            at = at.getSuperclass();
        }
        return at;
    }
}
