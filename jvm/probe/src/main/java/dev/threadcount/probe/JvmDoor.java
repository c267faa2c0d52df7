package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;

/**
 * Opens the JDK's internals to {@code JvmThreads} alone. A module of the JDK can only be opened to a whole module, and
 * for good, and the probe shares its module with the application's class path. Because each class loader has a separate
 * module, {@code JvmThreads} gets its own class loader.
 */
final class JvmDoor extends ClassLoader {
    private static final String INSIDE = "dev.threadcount.probe.inside.";
    private static final String ACCESS = INSIDE + "JvmThreads";
    private static final Set<String> OPENED = Set.of("jdk.internal.vm", "jdk.internal.misc", "java.lang", "java.util",
            "java.io", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks", "java.nio.channels",
            "sun.nio.ch");

    private JvmDoor(ClassLoader parent) {
        super(parent);
    }

    /**
     * Opens the JVM's internals.
     *
     * @throws ReflectiveOperationException when this JVM has different internals
     */
    static JvmAccess open(Instrumentation instrumentation) throws ReflectiveOperationException {
        JvmDoor door = new JvmDoor(JvmDoor.class.getClassLoader());
        Set<Module> ours = Set.of(door.getUnnamedModule());
        Map<String, Set<Module>> opened = new java.util.HashMap<>();
        OPENED.forEach(name -> opened.put(name, ours));
        instrumentation.redefineModule(Object.class.getModule(), Set.of(), Map.of(), opened, Set.of(), Map.of());
        Map.of("jdk.jfr", "jdk.jfr", "jdk.httpserver", "sun.net.httpserver").forEach((name, inner) ->
                ModuleLayer.boot().findModule(name).ifPresent(module ->
                        instrumentation.redefineModule(module, Set.of(), Map.of(), Map.of(inner, ours), Set.of(), Map.of())));
        return (JvmAccess) door.loadClass(ACCESS).getConstructor().newInstance();
    }

    /** Loads these classes here, because the parent would load them into the module of the class path. */
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(INSIDE)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known == null ? define(name) : known;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = file.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException unreadable) {
            throw new ClassNotFoundException(name, unreadable);
        }
    }
}
