package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;

/**
 * Switches an NIO endpoint of Tomcat 10.1 or 11. Only the field is set: the public {@code setExecutor} also marks the
 * executor as external, and the endpoint would then never stop its pool.
 */
final class TomcatEndpoint implements SwitchableServer {
    static final String ACCEPTOR = "org.apache.tomcat.util.net.Acceptor";
    private static final String ENDPOINT = "org.apache.tomcat.util.net.AbstractEndpoint";
    private static final String NIO = "org.apache.tomcat.util.net.NioEndpoint";
    private static final String POOL = "org.apache.tomcat.util.threads.ThreadPoolExecutor";
    private static final String VIRTUAL = "org.apache.tomcat.util.threads.VirtualThreadExecutor";

    private final PrivateFields fields;
    private final Object endpoint;
    private final VarHandle executor;
    private final Identity identity;
    private Executor installed;

    private TomcatEndpoint(PrivateFields fields, Object endpoint, int port, String product) throws ReflectiveOperationException {
        this.fields = fields;
        this.endpoint = endpoint;
        executor = fields.handle(PrivateFields.superclass(endpoint.getClass(), ENDPOINT), "executor", Executor.class);
        identity = new Identity(port, product, (Executor) executor.getVolatile(endpoint));
    }

    /**
     * Finds the endpoint of an acceptor.
     *
     * @throws UnsupportedServer when it cannot be switched
     */
    static TomcatEndpoint find(Object acceptor, PrivateFields fields) throws ReflectiveOperationException, UnsupportedServer {
        Object endpoint = fields.get(acceptor, "endpoint");
        int port = (Integer) fields.call(endpoint, "getLocalPort");
        String product = "Tomcat " + version(endpoint.getClass().getClassLoader());
        if (!product.startsWith("Tomcat 10.1.") && !product.startsWith("Tomcat 11.")) {
            throw new UnsupportedServer(port, product, "only Tomcat 10.1 and 11 can be switched");
        }
        if (PrivateFields.superclass(endpoint.getClass(), NIO) == null) {
            throw new UnsupportedServer(port, product, "only its NIO connectors can be switched, and this one is "
                    + endpoint.getClass().getSimpleName());
        }
        TomcatEndpoint found = new TomcatEndpoint(fields, endpoint, port, product);
        if (found.own() == null) {
            throw new UnsupportedServer(port, product, "its connector has no executor; it is starting or stopping");
        }
        return found;
    }

    private static String version(ClassLoader loader) throws ReflectiveOperationException {
        String number = (String) Class.forName("org.apache.catalina.util.ServerInfo", true, loader).getMethod("getServerNumber").invoke(null);
        // The number has a fourth part, which no release has in its name.
        return number.replaceFirst("^(\\d+\\.\\d+\\.\\d+).*", "$1");
    }

    @Override
    public Identity identity() {
        return identity;
    }

    /** The class loader that Tomcat's {@code TaskThreadFactory} sets. */
    @Override
    public ClassLoader context() {
        return PrivateFields.superclass(endpoint.getClass(), ENDPOINT).getClassLoader();
    }

    @Override
    public void install(RequestExecutor requests) {
        installed = stoppable(requests);
        if (!executor.compareAndSet(endpoint, own(), installed)) {
            throw new IllegalStateException(identity + " has another executor now, or is stopping.");
        }
    }

    private Executor stoppable(RequestExecutor requests) {
        if (PrivateFields.superclass(own().getClass(), POOL) == null) {
            return requests;
        }
        try {
            return (Executor) new ServerBridge(PrivateFields.superclass(own().getClass(), POOL)).create("TomcatPool", requests);
        } catch (ReflectiveOperationException | LinkageError another) {
            throw new IllegalStateException(product() + " has another thread pool than expected: " + another + ".", another);
        }
    }

    @Override
    public void uninstall() {
        executor.compareAndSet(endpoint, installed, own());
    }

    @Override
    public String whyOver() {
        if (executor.getVolatile(endpoint) != installed) {
            return identity + " has been stopped, or was given another executor.";
        }
        try {
            return (Boolean) fields.call(endpoint, "isRunning") ? null : identity + " has been stopped.";
        } catch (ReflectiveOperationException another) {
            throw new IllegalStateException(another);
        }
    }

    @Override
    public JsonLine describe(JsonLine line) {
        try {
            // With useVirtualThreads the endpoint still has a number, which limits nothing.
            boolean hasPool = PrivateFields.superclass(own().getClass(), VIRTUAL) == null;
            int threads = hasPool ? (Integer) fields.call(endpoint, "getMaxThreads") : -1;
            return line.put("name", (String) fields.call(endpoint, "getName")).put("own_max_threads", threads).put("not_switched", (String) null);
        } catch (ReflectiveOperationException another) {
            throw new IllegalStateException(another);
        }
    }
}
