package dev.threadcount.crossover;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.strategy.AdaptiveExecutionStrategy;

/** Jetty, embedded. */
final class JettySubject implements Subject {
    private final Server server = new Server(new QueuedThreadPool(24));
    private final ServerConnector connector = new ServerConnector(server);

    private JettySubject() throws Exception {
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                response.write(true, ByteBuffer.wrap(Subject.handle(Request.getPathInContext(request)).getBytes()), callback);
                return true;
            }
        });
        server.start();
    }

    @Override
    public int port() {
        return connector.getLocalPort();
    }

    @Override
    public void stop() throws Exception {
        server.stop();
    }

    /** The producer of the server's first selector. */
    @Override
    public Object executor() throws ReflectiveOperationException {
        ManagedSelector[] selectors = (ManagedSelector[]) get(SelectorManager.class, "_selectors", connector.getSelectorManager());
        return get(AdaptiveExecutionStrategy.class, "_producer", get(ManagedSelector.class, "_strategy", selectors[0]));
    }

    private static Object get(Class<?> owner, String name, Object from) throws ReflectiveOperationException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(from);
    }

    public static void main(String[] arguments) throws Exception {
        Subject.serve(new JettySubject());
    }
}
