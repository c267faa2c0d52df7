package dev.threadcount.avatar;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A server that redirects every path to one of 21 images, chosen at random. Only {@code /thread-info} returns the thread that handles the
 * request.
 */
public final class AvatarServer implements AutoCloseable {
    private static final int IMAGES = 21;
    /** The default backlog of 50 would refuse clients that connect at once. */
    private static final int BACKLOG = 1024;

    private final HttpServer server;

    private AvatarServer(HttpServer server) {
        this.server = server;
    }

    /**
     * Starts the server; {@code --threads=single|cached|virtual} (default single) and {@code --port=N} (default 8080, 0 for a free port).
     */
    public static void main(String[] args) throws IOException {
        Options options;
        try {
            options = Options.parse(args);
        } catch (IllegalArgumentException wrong) {
            System.err.println(wrong.getMessage());
            System.exit(2);
            return;
        }
        var server = start(options);
        System.out.println("avatar server on port " + server.port() + ", threads: " + options.threads());
    }

    static AvatarServer start(Options options) throws IOException {
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), options.port());
        var server = HttpServer.create(address, BACKLOG);
        server.setExecutor(options.threads().executor());
        server.createContext("/", AvatarServer::redirect);
        server.createContext("/thread-info", AvatarServer::threadInfo);
        server.start();
        return new AvatarServer(server);
    }

    int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private static void redirect(HttpExchange exchange) throws IOException {
        try (exchange) {
            int image = ThreadLocalRandom.current().nextInt(IMAGES) + 1;
            exchange.getResponseHeaders().set("Location", "https://avatar.spacefox.fr/Renard-" + image + ".png");
            exchange.sendResponseHeaders(302, -1);
        }
    }

    private static void threadInfo(HttpExchange exchange) throws IOException {
        try (exchange) {
            var thread = Thread.currentThread();
            byte[] body = """
                    {"thread": "%s", "virtual": %s, "java": "%s"}
                    """.formatted(thread.getName(), thread.isVirtual(), Runtime.version()).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
