package dev.threadcount.probe.crossover;

import java.io.IOException;
import java.io.InputStream;

/**
 * Loads our classes that extend those of a server. It finds the server's classes through the server's class loader, and
 * ours through ours. Each server has one bridge.
 */
final class ServerBridge extends ClassLoader {
    private static final String INSIDE = ServerBridge.class.getPackageName() + ".inside.";
    private static final String OURS = ServerBridge.class.getPackageName() + ".";

    ServerBridge(Class<?> ofServer) {
        super("threadcount-bridge", ofServer.getClassLoader());
    }

    /** Makes an object of a class in {@code inside}, by its only public constructor. */
    Object create(String name, Object... arguments) throws ReflectiveOperationException {
        return loadClass(INSIDE + name).getConstructors()[0].newInstance(arguments);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS)) {
            return super.loadClass(name, resolve);
        }
        if (!name.startsWith(INSIDE)) {
            return Class.forName(name, false, ServerBridge.class.getClassLoader());
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known == null ? define(name) : known;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream file = ServerBridge.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
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
