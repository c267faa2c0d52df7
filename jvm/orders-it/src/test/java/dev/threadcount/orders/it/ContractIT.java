package dev.threadcount.orders.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.orders.backend.LocalBackends;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests the contract of the shop, with a real database behind it. */
class ContractIT {
    private static final String PASSWORD = "made for this test";
    private static final JsonMapper JSON = new JsonMapper();
    private static LocalBackends behind;

    @BeforeAll
    static void startWhatIsBehindIt() throws Exception {
        behind = LocalBackends.start(PASSWORD);
    }

    @AfterAll
    static void stopWhatIsBehindIt() throws Exception {
        behind.close();
    }

    @ParameterizedTest
    @CsvSource({
        "orders-spring-boot-4, '', false",
        "orders-spring-boot-4, --spring.threads.virtual.enabled=true, true",
        "orders-jetty, '', false",
        "orders-jetty, --spring.threads.virtual.enabled=true, true",
        "orders-spring-boot-3, '', false",
        "orders-spring-boot-3, --spring.threads.virtual.enabled=true, true",
        "orders-webflux, '', false",
        "orders-helidon, '', true",
        "orders-quarkus, '', true",
        "orders-quarkus-worker, '', false",
        "orders-quarkus-reactive, '', false",
    })
    void serverAnswersEachRequestOfTheContractOnItsKindOfThread(String jar, String argument, boolean virtual) throws Exception {
        int port = LocalBackends.freePort();
        Process server = start(jar, argument, port, Map.of());
        try (var client = HttpClient.newHttpClient()) {
            var shop = new Shop(client, port);
            shop.waitUntilReady(server);
            assertEquals(json("{\"id\":42,\"customerId\":43,\"placedAt\":\"2026-01-01T00:42:00Z\",\"state\":\"shipped\",\"lines\":["
                            + "{\"line\":1,\"productId\":426,\"product\":\"Product 426\",\"quantity\":4,\"priceCents\":5962},"
                            + "{\"line\":2,\"productId\":557,\"product\":\"Product 557\",\"quantity\":5,\"priceCents\":909},"
                            + "{\"line\":3,\"productId\":688,\"product\":\"Product 688\",\"quantity\":1,\"priceCents\":5756}]}"),
                    json(shop.body("GET", "/orders/42")));
            assertEquals(404, shop.send("GET", "/orders/999999999").statusCode());
            String id = shop.body("POST", "/orders?customer=7&product=3&quantity=2").replaceAll("\\D", "");
            JsonNode lines = json(shop.body("GET", "/orders/" + id)).get("lines");
            assertEquals(json("[{\"line\":1,\"productId\":3,\"product\":\"Product 3\",\"quantity\":2,\"priceCents\":211}]"), lines);
            JsonNode bought = json(shop.body("GET", "/search?customer=1")).get(0);
            assertEquals(Set.of("product", "quantity", "cents"), Set.copyOf(bought.propertyNames()));
            assertTrue(bought.get("product").asString().matches("Product \\d+"), bought.toString());
            assertTrue(bought.get("quantity").isIntegralNumber() && bought.get("cents").isIntegralNumber(), bought.toString());
            assertEquals(json("{\"product\":3,\"priceCents\":211}"), json(shop.body("GET", "/quote/3")));
            assertTrue(shop.body("GET", "/invoice/42").startsWith("%PDF-"));
            int left = json(shop.body("POST", "/stock/9?quantity=5")).get("stock").asInt() - 5;
            assertEquals(json("{\"product\":9,\"stock\":" + left + "}"), json(shop.body("POST", "/stock/9?quantity=5")));
            String thread = shop.body("GET", "/thread-info?format=json");
            assertTrue(thread.contains("\"virtual\":" + virtual), thread);
            checkConnectionsToTheDatabase(shop);
        } finally {
            stop(server);
        }
    }

    /** Checks the connections that are open after the requests. No server closes those of its pool so soon, so the requests used them. */
    private static void checkConnectionsToTheDatabase(Shop shop) throws Exception {
        var atOnce = Stream.generate(() -> shop.sendLater("/search?customer=1")).limit(40).toList();
        var statuses = atOnce.stream().map(it -> it.join().statusCode()).collect(Collectors.toSet());
        assertEquals(Set.of(200), statuses);
        int connections = behind.databaseConnections();
        assertTrue(connections >= 1 && connections <= 10, "connections to the database: " + connections);
    }

    /** The variable is the one that {@code compare --helidon} sets. */
    @Test
    void helidonRefusesWhatIsAboveTheLimitOfItsEnvironment() throws Exception {
        int port = LocalBackends.freePort();
        Process server = start("orders-helidon", "", port, Map.of("SERVER_MAX_DASH_CONCURRENT_DASH_REQUESTS", "1"));
        try (var client = HttpClient.newHttpClient()) {
            var shop = new Shop(client, port);
            shop.waitUntilReady(server);
            var atOnce = Stream.generate(() -> shop.sendLater("/quote/3")).limit(8).toList();
            var statuses = atOnce.stream().map(it -> it.join().statusCode()).collect(Collectors.toSet());
            assertEquals(Set.of(200, 503), statuses);
        } finally {
            stop(server);
        }
    }

    /** Parses the text, because the order of an object's members is not part of the contract, and differs in Quarkus. */
    private static JsonNode json(String text) {
        return JSON.readTree(text);
    }

    private static void stop(Process server) throws InterruptedException {
        server.destroy();
        if (!server.waitFor(20, TimeUnit.SECONDS)) {
            server.destroyForcibly();
        }
    }

    private static Process start(String jar, String argument, int port, Map<String, String> more) throws IOException {
        Path file = Path.of("..", jar, "target", jar + ".jar");
        String java = ProcessHandle.current().info().command().orElse("java");
        var command = new ArrayList<>(List.of(java, "-Xmx128m", "-jar", file.toString()));
        if (!argument.isEmpty()) {
            command.add(argument);
        }
        var building = new ProcessBuilder(command).inheritIO();
        String address = behind.databaseAddress();
        building.environment().putAll(Map.of(
                "SERVER_PORT", Integer.toString(port),
                "SPRING_DATASOURCE_URL", "jdbc:postgresql://" + address,
                "SPRING_DATASOURCE_USERNAME", "shop",
                "SPRING_DATASOURCE_PASSWORD", PASSWORD,
                "SPRING_R2DBC_URL", "r2dbc:postgresql://" + address,
                "SPRING_R2DBC_USERNAME", "shop",
                "SPRING_R2DBC_PASSWORD", PASSWORD,
                "SHOP_NEIGHBOUR", behind.neighbourUrl()));
        building.environment().putAll(more);
        return building.start();
    }

    private record Shop(HttpClient client, int port) {
        void waitUntilReady(Process server) throws Exception {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
            while (System.nanoTime() < end && server.isAlive()) {
                try {
                    send("GET", "/orders/1");
                    return;
                } catch (ConnectException notYet) {
                    Thread.sleep(50);
                }
            }
            throw new IOException("the server is not ready");
        }

        String body(String method, String path) throws Exception {
            HttpResponse<String> response = send(method, path);
            assertEquals(200, response.statusCode(), path);
            return response.body();
        }

        HttpResponse<String> send(String method, String path) throws Exception {
            return client.send(request(method, path), HttpResponse.BodyHandlers.ofString());
        }

        CompletableFuture<HttpResponse<String>> sendLater(String path) {
            return client.sendAsync(request("GET", path), HttpResponse.BodyHandlers.ofString());
        }

        private HttpRequest request(String method, String path) {
            return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                    .timeout(Duration.ofSeconds(60))
                    .method(method, HttpRequest.BodyPublishers.noBody())
                    .build();
        }
    }
}
