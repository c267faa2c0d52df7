package dev.threadcount.orders.backend;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/**
 * A slow service: {@code GET /price/ID} responds after 100 ms, but not before the end of a stall. It stalls on command ({@code POST
 * /stall?ms=5000}), or by the clock in the last part of each period. So every window of a period's length contains a whole stall.
 */
final class Neighbour {
    private static final long RESPONSE_MS = 100;

    private final HttpServer server;
    private final long startedNanos = System.nanoTime();
    private final long stallMs;
    private final long stallEveryMs;
    private volatile long stalledUntilNanos = System.nanoTime();

    Neighbour(int port, long stallMs, long stallEveryMs) throws IOException {
        this.stallMs = stallMs;
        this.stallEveryMs = stallEveryMs;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 4_096);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/price/", this::price);
        server.createContext("/stall", this::stall);
        server.createContext("/ready", exchange -> respond(exchange, "ready"));
    }

    void start() {
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    void stop() {
        server.stop(0);
    }

    private void price(HttpExchange exchange) throws IOException {
        long toldMs = (stalledUntilNanos - System.nanoTime()) / 1_000_000;
        try {
            Thread.sleep(Math.max(RESPONSE_MS, Math.max(toldMs, leftOfStallMs())));
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
        String path = exchange.getRequestURI().getPath();
        long product = Long.parseLong(path.substring(path.lastIndexOf('/') + 1));
        respond(exchange, Long.toString(100 + product * 37 % 9_900));
    }

    private long leftOfStallMs() {
        if (stallEveryMs == 0) {
            return 0;
        }
        long leftOfPeriodMs = stallEveryMs - (System.nanoTime() - startedNanos) / 1_000_000 % stallEveryMs;
        return leftOfPeriodMs <= stallMs ? leftOfPeriodMs : 0;
    }

    private void stall(HttpExchange exchange) throws IOException {
        String query = exchange.getRequestURI().getQuery();
        long milliseconds = Long.parseLong(query.substring(query.indexOf('=') + 1));
        stalledUntilNanos = System.nanoTime() + milliseconds * 1_000_000;
        respond(exchange, "stalls for " + milliseconds + " ms");
    }

    private static void respond(HttpExchange exchange, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getRequestBody().readAllBytes();
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
