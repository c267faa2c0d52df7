package dev.threadcount.probe.crossover;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Recognizes servers that cannot be switched, by the classes that their threads run. */
final class KnownServers {
    private static final List<Known> ALL = List.of(
            new Known("io.netty.", "Netty", "(requests run on its event loops)"),
            new Known("io.vertx.", "Vert.x", "(requests run on its event loops)"),
            new Known("org.xnio.", "Undertow", "(its workers do their own I/O)"),
            new Known("io.undertow.", "Undertow", "(its workers do their own I/O)"),
            new Known("io.helidon.", "Helidon", "(requests always run on virtual threads)"),
            new Known("org.glassfish.grizzly.", "Grizzly", ""),
            new Known("org.eclipse.jetty.", "Jetty", "without a QueuedThreadPool or with another connector"),
            new Known("org.apache.tomcat.", "Tomcat", "with another connector than NIO"));

    private KnownServers() {}

    /** The names of the servers that run one of these classes, or "an unknown server". */
    static String name(List<String> classesOfThreads) {
        Set<String> names = new LinkedHashSet<>();
        for (Known server : ALL) {
            if (classesOfThreads.stream().anyMatch(type -> type.startsWith(server.prefix()))) {
                names.add((server.product() + " " + server.why()).strip());
            } else if (classesOfThreads.stream().anyMatch(type -> type.contains("." + server.prefix()))) {
                names.add(server.product() + " in renamed packages");
            }
        }
        return names.isEmpty() ? "an unknown server" : String.join(", or ", names);
    }

    /** A server and the package of its classes. An application may carry them below its own package. */
    private record Known(String prefix, String product, String why) {}
}
