package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;

/** Switches the JDK's {@code com.sun.net.httpserver.HttpServer}, whose dispatcher reads its executor for each request. */
final class JdkHttpServer implements SwitchableServer {
    static final String DISPATCHER = "sun.net.httpserver.ServerImpl$Dispatcher";

    private final Thread dispatcher;
    private final Object server;
    private final VarHandle executor;
    private final Identity identity;
    private Executor installed;

    /** @param dispatcher the thread that runs {@link #DISPATCHER} */
    JdkHttpServer(Thread dispatcher, Object task, PrivateFields fields) throws ReflectiveOperationException {
        this.dispatcher = dispatcher;
        server = fields.get(task, "this$0");
        executor = fields.handle(server.getClass(), "executor", Executor.class);
        int port = ((InetSocketAddress) fields.call(server, "getAddress")).getPort();
        identity = new Identity(port, "JDK HttpServer " + Runtime.version().feature(), (Executor) executor.getVolatile(server));
    }

    @Override
    public Identity identity() {
        return identity;
    }

    @Override
    public ClassLoader context() {
        return dispatcher.getContextClassLoader();
    }

    @Override
    public void install(RequestExecutor requests) {
        installed = requests;
        if (!executor.compareAndSet(server, own(), installed)) {
            throw new IllegalStateException("The JDK's HttpServer on port " + port() + " has another executor now.");
        }
    }

    @Override
    public void uninstall() {
        executor.compareAndSet(server, installed, own());
    }

    @Override
    public String whyOver() {
        return dispatcher.isAlive() ? null : "The JDK's HttpServer on port " + port() + " has been stopped.";
    }

    @Override
    public JsonLine describe(JsonLine line) {
        return line.put("name", dispatcher.getName()).put("own_max_threads", -1).put("not_switched", (String) null);
    }
}
