package dev.threadcount.crossover;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The JDK's server. With {@code default} it uses its default executor, the dispatcher, which runs one request after the other. */
final class JdkSubject implements Subject {
    private final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    private final ExecutorService custom = Executors.newFixedThreadPool(8, task -> {
        Thread thread = new Thread(task, "custom-1");
        thread.setDaemon(true);
        return thread;
    });

    private JdkSubject(boolean isDefault) throws Exception {
        server.createContext("/", exchange -> {
            byte[] body = Subject.handle(exchange.getRequestURI().getPath()).getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        if (!isDefault) {
            server.setExecutor(custom);
        }
        server.start();
    }

    @Override
    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void stop() {
        server.stop(0);
    }

    @Override
    public Object executor() {
        return server.getExecutor();
    }

    public static void main(String[] arguments) throws Exception {
        Subject.serve(new JdkSubject(arguments.length > 0));
    }
}
