package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** Switches a connector of Jetty 12.0 or 12.1. Its requests pass the execution strategy of a selector, whose producer we replace. */
final class JettyConnector implements SwitchableServer {
    static final String RUNNER = "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner";
    private static final String SELECTORS = "org.eclipse.jetty.io.SelectorManager";
    private static final String CONNECTOR = "org.eclipse.jetty.server.AbstractConnector";
    private static final String STRATEGY = "org.eclipse.jetty.util.thread.strategy.AdaptiveExecutionStrategy";
    private static final String PRODUCER = "_producer";

    /** @param own the strategy's original producer */
    private record Selector(Object strategy, Object own) {}

    private final PrivateFields fields;
    private final Object connector;
    private final Identity identity;
    private final List<Selector> selectors = new ArrayList<>();
    private final List<Object> installed = new ArrayList<>();

    private JettyConnector(PrivateFields fields, Object connector, Object manager) throws ReflectiveOperationException, UnsupportedServer {
        this.fields = fields;
        this.connector = connector;
        int port = (Integer) fields.call(connector, "getLocalPort");
        Executor own = (Executor) fields.call(connector, "getExecutor");
        String product = "Jetty " + Class.forName("org.eclipse.jetty.util.Jetty", true, own.getClass().getClassLoader()).getField("VERSION").get(null);
        identity = new Identity(port, product, own);
        if (!product.startsWith("Jetty 12.")) {
            throw new UnsupportedServer(port, product, "only Jetty 12 can be switched");
        }
        for (Object selector : (Object[]) fields.get(manager, "_selectors")) {
            Object strategy = fields.get(selector, "_strategy");
            if (!strategy.getClass().getName().equals(STRATEGY)) {
                throw new UnsupportedServer(port, product, "its execution strategy is " + strategy.getClass().getName());
            }
            selectors.add(new Selector(strategy, fields.get(strategy, PRODUCER)));
        }
    }

    /**
     * Finds the connectors that lease threads of a pool.
     *
     * @param runner the task of a thread of a {@code QueuedThreadPool}
     * @return an {@link UnsupportedServer} or a {@link JettyConnector} per connector
     */
    static List<Object> find(Object runner, PrivateFields fields) throws ReflectiveOperationException {
        List<Object> found = new ArrayList<>();
        Object budget = fields.call(fields.get(runner, "this$0"), "getThreadPoolBudget");
        for (Object lease : budget == null ? List.of() : (Iterable<?>) fields.get(budget, "leases")) {
            Object manager = fields.get(lease, "leasee");
            // A client of Jetty has selectors too.
            if (PrivateFields.superclass(manager.getClass(), SELECTORS) == null || !isOfConnector(manager)) {
                continue;
            }
            try {
                found.add(new JettyConnector(fields, fields.get(manager, "this$0"), manager));
            } catch (UnsupportedServer another) {
                found.add(another);
            }
        }
        return found;
    }

    private static boolean isOfConnector(Object manager) {
        Class<?> outer = manager.getClass().getEnclosingClass();
        return outer != null && PrivateFields.superclass(outer, CONNECTOR) != null;
    }

    @Override
    public Identity identity() {
        return identity;
    }

    /** The class loader that {@code QueuedThreadPool} sets. */
    @Override
    public ClassLoader context() {
        return own().getClass().getClassLoader();
    }

    @Override
    public void install(RequestExecutor requests) {
        try {
            for (Selector selector : selectors) {
                if (fields.get(selector.strategy(), PRODUCER) != selector.own()) {
                    throw new IllegalStateException("The selectors of " + product() + " have other producers now.");
                }
                ServerBridge bridge = new ServerBridge(selector.strategy().getClass());
                Object ours = bridge.create("JettyProducer", requests, selector.own());
                fields.set(selector.strategy(), PRODUCER, ours);
                installed.add(ours);
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError another) {
            uninstall();
            throw new IllegalStateException(identity + " cannot be switched: " + another + ".", another);
        }
    }

    @Override
    public void uninstall() {
        for (int i = 0; i < installed.size(); i++) {
            Selector selector = selectors.get(i);
            try {
                if (fields.get(selector.strategy(), PRODUCER) == installed.get(i)) {
                    fields.set(selector.strategy(), PRODUCER, selector.own());
                }
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        installed.clear();
    }

    @Override
    public String whyOver() {
        try {
            return (Boolean) fields.call(connector, "isRunning") ? null : identity + " has been stopped.";
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public JsonLine describe(JsonLine line) {
        try {
            Object threads = fields.call(own(), "getMaxThreads");
            boolean http2 = String.valueOf(fields.call(connector, "getProtocols")).contains("h2");
            return line.put("name", String.valueOf(fields.call(connector, "getName"))).put("own_max_threads", threads instanceof Integer number ? number : -1)
                    .put("not_switched", http2 ? "requests over HTTP/2 keep their threads" : null);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
