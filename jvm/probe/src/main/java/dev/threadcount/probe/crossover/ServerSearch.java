package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Finds the servers of this JVM by the tasks of its platform threads. It needs no help from the application, and
 * assumes nothing about class loaders.
 */
final class ServerSearch {
    private final PrivateFields fields;
    private final Map<Integer, SwitchableServer> servers = new TreeMap<>();
    private final Map<Integer, UnsupportedServer> unsupported = new TreeMap<>();
    private final List<String> unknownClasses = new ArrayList<>();

    private ServerSearch(PrivateFields fields) {
        this.fields = fields;
    }

    static ServerSearch run(Instrumentation instrumentation) {
        ServerSearch search = new ServerSearch(new PrivateFields(instrumentation));
        for (Thread thread : platformThreads()) {
            search.look(thread);
        }
        for (int port : ListeningPorts.find()) {
            if (!search.servers.containsKey(port)) {
                search.unsupported.computeIfAbsent(port, key -> new UnsupportedServer(key, KnownServers.name(search.unknownClasses),
                        "only Tomcat 10.1 and 11 (NIO), Jetty 12 and the JDK's HttpServer can be switched"));
            }
        }
        return search;
    }

    private static List<Thread> platformThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[root.activeCount() + 64];
        int count = root.enumerate(threads, true);
        while (count == threads.length) {
            threads = new Thread[2 * count];
            count = root.enumerate(threads, true);
        }
        return List.of(Arrays.copyOf(threads, count));
    }

    private void look(Thread thread) {
        Object task = task(thread);
        String type = task == null ? thread.getClass().getName() : task.getClass().getName();
        try {
            switch (type) {
                case TomcatEndpoint.ACCEPTOR -> add(TomcatEndpoint.find(task, fields));
                case JdkHttpServer.DISPATCHER -> add(new JdkHttpServer(thread, task, fields));
                case JettyConnector.RUNNER -> addAll(JettyConnector.find(task, fields));
                default -> {
                    unknownClasses.add(type);
                    unknownClasses.add(thread.getClass().getName());
                }
            }
        } catch (UnsupportedServer another) {
            unsupported.put(another.port(), another);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError another) {
            // The internals of this version differ. Its port is reported as one that cannot be switched.
            unknownClasses.add(type);
        }
    }

    private Object task(Thread thread) {
        try {
            Object holder = fields.get(thread, "holder");
            return holder == null ? null : fields.get(holder, "task");
        } catch (ReflectiveOperationException | RuntimeException ended) {
            return null;
        }
    }

    private void addAll(List<Object> connectors) {
        for (Object found : connectors) {
            if (found instanceof UnsupportedServer another) {
                unsupported.put(another.port(), another);
            } else {
                add((SwitchableServer) found);
            }
        }
    }

    private void add(SwitchableServer server) {
        // A server without a port, yet or any more, has no requests.
        if (server.port() > 0) {
            servers.putIfAbsent(server.port(), server);
        }
    }

    /**
     * The server on a port.
     *
     * @param port 0 for the only server
     * @throws IllegalStateException with a sentence that names what listens
     */
    SwitchableServer server(int port) {
        if (port == 0 && servers.size() == 1) {
            return servers.values().iterator().next();
        }
        if (port == 0) {
            throw new IllegalStateException(servers.isEmpty() ? "No server in this JVM can be switched: " + names() + "."
                    : "Several servers can be switched; name a port: " + servers.keySet() + ".");
        }
        if (servers.containsKey(port)) {
            return servers.get(port);
        }
        UnsupportedServer other = unsupported.get(port);
        throw new IllegalStateException(other == null ? "Nothing in this JVM listens on port " + port + "."
                : "Port " + port + " cannot be switched: " + text(other) + ".");
    }

    private String names() {
        return unsupported.isEmpty() ? "none listens" : String.join("; ", unsupported.values().stream()
                .map(other -> "port " + other.port() + ", " + text(other)).toList());
    }

    private static String text(UnsupportedServer other) {
        return other.product() + ": " + other.getMessage();
    }

    JsonLine describe() {
        List<JsonLine> found = servers.values().stream()
                .map(server -> server.describe(JsonLine.nested().put("port", server.port()).put("server", server.product())
                        .put("own_executor", server.own().getClass().getName()))).toList();
        List<JsonLine> refused = unsupported.values().stream()
                .map(other -> JsonLine.nested().put("port", other.port()).put("server", other.product()).put("why", other.getMessage())).toList();
        return JsonLine.of("targets", System.nanoTime()).put("targets", found).put("refused", refused);
    }
}
