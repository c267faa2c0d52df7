package dev.threadcount.probe;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The class files of loaded classes, each read once. It keeps classes, so it must not live longer than one look. */
final class LoadedCode {
    private final Supplier<Class<?>[]> classes;
    private final Map<String, List<MethodFlow>> flows = new HashMap<>();
    /** By name; null until one is asked for. */
    private Map<String, Class<?>> loaded;

    /** @param classes all that are loaded */
    LoadedCode(Supplier<Class<?>[]> classes) {
        this.classes = classes;
    }

    /** Null for none; of several loaders' one of them. */
    private Class<?> loaded(String name) {
        if (loaded == null) {
            loaded = new HashMap<>();
            for (Class<?> type : classes.get()) {
                loaded.putIfAbsent(type.getName(), type);
            }
        }
        return loaded.get(name);
    }

    /** The methods of a class; none where its file cannot be read. */
    List<MethodFlow> methods(String name) {
        return flows.computeIfAbsent(name, any -> {
            ClassFile file = read(name);
            try {
                return file == null ? List.of() : file.methods().stream().map(method -> new MethodFlow(file, method)).toList();
            } catch (RuntimeException unreadable) {
                return List.of();
            }
        });
    }

    /** The method of a frame; null where its class cannot be read. */
    MethodFlow flow(StackTraceElement frame) {
        for (MethodFlow flow : methods(frame.getClassName())) {
            if (flow.name().equals(frame.getMethodName()) && flow.hasLine(frame.getLineNumber())) {
                return flow;
            }
        }
        return null;
    }

    /** Null where it cannot be read. */
    private ClassFile read(String name) {
        Class<?> type = loaded(name);
        try (InputStream file = type == null ? null : type.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
            return file == null ? null : ClassFile.read(new DataInputStream(file));
        } catch (IOException | RuntimeException unreadable) {
            return null;
        }
    }
}
