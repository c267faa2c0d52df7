package dev.threadcount.probe;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;

/** Finds the frame of a stack that keeps a virtual thread on its carrier. Used by the event stream's thread only. */
final class Monitors {
    private final Instrumentation instrumentation;
    private final Map<String, MonitorScan> scans = new HashMap<>();

    Monitors(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** Whether a frame pins: a synchronized method or block before Java 24 (JEP 491), a native method, or a class initializer. */
    boolean pins(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        if (method.getName().equals("<clinit>")) {
            return true;
        }
        if (Modifier.isNative(method.getModifiers())) {
            return !isContinuationMachinery(method);
        }
        if (Runtime.version().feature() >= 24) {
            return false;
        }
        return Modifier.isSynchronized(method.getModifiers())
                || scan(method.getType()).holdsMonitor(
                        method.getName(), method.getDescriptor(), frame.getBytecodeIndex());
    }

    /** The native methods that every parking thread has on its stack. */
    private static boolean isContinuationMachinery(RecordedMethod method) {
        String type = method.getType().getName();
        return type.startsWith("jdk.internal.") || type.startsWith("java.lang.");
    }

    private MonitorScan scan(RecordedClass type) {
        return scans.computeIfAbsent(type.getName(), this::read);
    }

    private MonitorScan read(String className) {
        String file = className.replace('.', '/') + ".class";
        return Stream.of(instrumentation.getAllLoadedClasses())
                .filter(loaded -> loaded.getName().equals(className))
                .findFirst()
                .map(loaded -> read(loaded, file))
                .orElseGet(MonitorScan::nothing);
    }

    private static MonitorScan read(Class<?> loaded, String file) {
        try (InputStream in = loaded.getResourceAsStream("/" + file)) {
            return in == null ? MonitorScan.nothing() : MonitorScan.of(in);
        } catch (IOException unreadable) {
            return MonitorScan.nothing();
        }
    }
}
