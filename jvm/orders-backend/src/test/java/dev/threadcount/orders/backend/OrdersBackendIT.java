package dev.threadcount.orders.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
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
        PostgresCluster database = PostgresCluster.start();
        try (database) {
            database.execute(PostgresCluster.resource("/shop.sql"));
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
        assertThrows(IOException.class, () -> new Socket("127.0.0.1", database.port()).close());
    }

    @Test
    void neighbourRespondsAfterAHundredMillisecondsAndAfterItsStall() throws Exception {
        var neighbour = new Neighbour(0, "the database");
        neighbour.start();
        assertEquals("the database", get(neighbour, "/database"));
        assertTrue(millisecondsOf(neighbour, "/price/3", "211") >= 100);
        post(neighbour, "/stall?ms=400");
        assertTrue(millisecondsOf(neighbour, "/price/1000", "7400") >= 300);
        neighbour.stop();
    }

    private static long millisecondsOf(Neighbour neighbour, String path, String expected) throws Exception {
        long start = System.nanoTime();
        assertEquals(expected, get(neighbour, path));
        return (System.nanoTime() - start) / 1_000_000;
    }

    private static String get(Neighbour neighbour, String path) throws Exception {
        return send(HttpRequest.newBuilder(url(neighbour, path)).build());
    }

    private static void post(Neighbour neighbour, String path) throws Exception {
        send(HttpRequest.newBuilder(url(neighbour, path)).POST(HttpRequest.BodyPublishers.noBody()).build());
    }

    private static String send(HttpRequest request) throws Exception {
        try (var client = HttpClient.newHttpClient()) {
            return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        }
    }

    private static URI url(Neighbour neighbour, String path) {
        return URI.create("http://127.0.0.1:" + neighbour.port() + path);
    }
}
