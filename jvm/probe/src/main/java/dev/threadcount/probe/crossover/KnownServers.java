package dev.threadcount.probe.crossover;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Servers that cannot be switched, by the classes that their threads run. */
final class KnownServers {
    private static final Map<String, String> BY_CLASS = new LinkedHashMap<>();

    static {
        BY_CLASS.put("io.netty.", "Netty (requests run on its event loops)");
        BY_CLASS.put("io.vertx.", "Vert.x (requests run on its event loops)");
        BY_CLASS.put("org.xnio.", "Undertow (its workers do their own I/O)");
        BY_CLASS.put("io.undertow.", "Undertow (its workers do their own I/O)");
        BY_CLASS.put("io.helidon.", "Helidon (requests always run on virtual threads)");
        BY_CLASS.put("org.glassfish.grizzly.", "Grizzly");
        BY_CLASS.put("org.eclipse.jetty.", "Jetty without a QueuedThreadPool or with another connector");
        BY_CLASS.put("org.apache.tomcat.", "Tomcat with another connector than NIO");
    }

    private KnownServers() {}

    /** The names of those that run one of these classes; "an unknown server" for none. */
    static String name(List<String> classesOfThreads) {
        List<String> names = new ArrayList<>();
        BY_CLASS.forEach((prefix, name) -> {
            if (!names.contains(name) && classesOfThreads.stream().anyMatch(type -> type.startsWith(prefix))) {
                names.add(name);
            }
        });
        return names.isEmpty() ? "an unknown server" : String.join(", or ", names);
    }
}
