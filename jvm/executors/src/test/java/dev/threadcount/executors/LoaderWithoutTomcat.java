package dev.threadcount.executors;

import java.io.IOException;

/** Loads the classes of this package anew, and everything else except Tomcat, as in an application on Jetty or Netty. */
final class LoaderWithoutTomcat extends ClassLoader {
    private static final String OURS = LoaderWithoutTomcat.class.getPackageName() + ".";

    LoaderWithoutTomcat() {
        super(LoaderWithoutTomcat.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (name.startsWith("org.apache.catalina.")) {
            throw new ClassNotFoundException(name);
        }
        if (!name.startsWith(OURS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (var file = getResourceAsStream(name.replace('.', '/') + ".class")) {
            byte[] bytes = file.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException unreadable) {
            throw new ClassNotFoundException(name, unreadable);
        }
    }
}
