package dev.threadcount.orders.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

class OrdersBackendIT {
    @Test
    void databaseHasTheSameHundredThousandOrdersInEachRunAndIsGoneAfterIt() throws Exception {
        int port = LocalBackends.freePort();
        PostgresCluster database = PostgresCluster.start(port, "made for this run", PostgresCluster.resource("/shop.sql"));
        try (database) {
            assertEquals("100000|250000|1000", database.execute(
                    "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM order_line), (SELECT count(*) FROM product)").strip());
            assertEquals("42|43|2026-01-01 00:42:00|shipped", database.execute(
                    "SELECT id, customer_id, placed_at AT TIME ZONE 'UTC', state FROM orders WHERE id = 42").strip());
            assertEquals("100001", database.execute(
                    "INSERT INTO orders (customer_id, placed_at, state) VALUES (1, now(), 'new') RETURNING id").strip());
            assertThrows(IOException.class, () -> database.execute("SELECT * FROM no_such_table"));
            assertEquals("127.0.0.1", database.execute("SHOW listen_addresses").strip());
        }
        assertFalse(Files.exists(database.folder()));
        assertThrows(IOException.class, () -> new Socket("127.0.0.1", port).close());
    }

    @Test
    void neighbourRespondsAfterAHundredMillisecondsAndAfterItsStall() throws Exception {
        var neighbour = new Neighbour(0, 0, 0);
        neighbour.start();
        assertEquals("ready", get(neighbour, "/ready"));
        assertTrue(millisecondsOf(neighbour, "/price/3", "211") >= 100);
        long start = System.nanoTime();
        post(neighbour, "/stall?ms=400");
        assertEquals("7400", get(neighbour, "/price/1000"));
        assertTrue(millisecondsSince(start) >= 400);
        neighbour.stop();
    }

    @Test
    void neighbourThatStallsByTheClockDoesSoOnceInEachPeriod() throws Exception {
        var neighbour = new Neighbour(0, 500, 1_000);
        neighbour.start();
        long start = System.nanoTime();
        while (millisecondsOf(neighbour, "/price/3", "211") < 300) {
            assertTrue(millisecondsSince(start) < 60_000, "60 s of requests met no stall");
        }
        neighbour.stop();
    }

    @Test
    void proxyPassesBytesOnAndUsesAsMuchCpuAsItIsToldTo() throws Exception {
        var neighbour = new Neighbour(0, 0, 0);
        neighbour.start();
        var proxy = new CpuProxy(0, neighbour.port(), 20_000);
        proxy.start();
        var process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long before = process.getProcessCpuTime();
        for (int request = 0; request < 5; request++) {
            assertEquals("211", get("http://127.0.0.1:" + proxy.port() + "/price/3"));
        }
        long usedMs = (process.getProcessCpuTime() - before) / 1_000_000;
        assertTrue(usedMs >= 95, "5 pieces at 20 ms each used " + usedMs + " ms");
        proxy.stop();
        neighbour.stop();
    }

    private static long millisecondsOf(Neighbour neighbour, String path, String expected) throws Exception {
        long start = System.nanoTime();
        assertEquals(expected, get(neighbour, path));
        return millisecondsSince(start);
    }

    private static long millisecondsSince(long start) {
        return (System.nanoTime() - start) / 1_000_000;
    }

    private static String get(Neighbour neighbour, String path) throws Exception {
        return get("http://127.0.0.1:" + neighbour.port() + path);
    }

    private static String get(String url) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(url)).build());
    }

    private static void post(Neighbour neighbour, String path) throws Exception {
        URI url = URI.create("http://127.0.0.1:" + neighbour.port() + path);
        send(HttpRequest.newBuilder(url).POST(HttpRequest.BodyPublishers.noBody()).build());
    }

    private static String send(HttpRequest request) throws Exception {
        try (var client = HttpClient.newHttpClient()) {
            return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        }
    }
}
