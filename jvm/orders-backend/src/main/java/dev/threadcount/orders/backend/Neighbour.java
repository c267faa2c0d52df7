package dev.threadcount.orders.backend;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/**
 * The slow neighbour: {@code GET /price/ID} responds after 100 ms, and not before the end of a stall
 * ({@code POST /stall?ms=5000}).
 */
final class Neighbour {
    private static final long RESPONSE_MS = 100;

    private final HttpServer server;
    private volatile long stalledUntilNanos = System.nanoTime();

    Neighbour(int port, String database) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 4_096);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/price/", this::price);
        server.createContext("/stall", this::stall);
        server.createContext("/database", exchange -> respond(exchange, database));
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
        long stallMs = (stalledUntilNanos - System.nanoTime()) / 1_000_000;
        try {
            Thread.sleep(Math.max(RESPONSE_MS, stallMs));
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
        String path = exchange.getRequestURI().getPath();
        long product = Long.parseLong(path.substring(path.lastIndexOf('/') + 1));
        respond(exchange, Long.toString(100 + product * 37 % 9_900));
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
