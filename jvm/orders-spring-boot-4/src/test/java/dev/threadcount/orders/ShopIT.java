package dev.threadcount.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.orders.backend.LocalBackends;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests the contract, with a real database behind it. */
class ShopIT {
    private static LocalBackends behind;

    @BeforeAll
    static void startWhatIsBehindIt() throws Exception {
        behind = LocalBackends.start("made for this test");
    }

    @AfterAll
    static void stopWhatIsBehindIt() throws Exception {
        behind.close();
    }

    private static ConfigurableApplicationContext start(String... args) {
        var application = new SpringApplication(Shop.class);
        application.setDefaultProperties(Map.of(
                "server.port", "0",
                "spring.datasource.url", "jdbc:postgresql://" + behind.databaseAddress(),
                "spring.datasource.username", "shop",
                "spring.datasource.password", "made for this test",
                "shop.neighbour", behind.neighbourUrl()));
        return application.run(args);
    }

    @Test
    void eachRequestOfTheContractIsAnswered() throws Exception {
        try (var shop = start()) {
            assertEquals("{\"id\":42,\"customerId\":43,\"placedAt\":\"2026-01-01T00:42:00Z\",\"state\":\"shipped\",\"lines\":["
                            + "{\"line\":1,\"productId\":426,\"product\":\"Product 426\",\"quantity\":4,\"priceCents\":5962},"
                            + "{\"line\":2,\"productId\":557,\"product\":\"Product 557\",\"quantity\":5,\"priceCents\":909},"
                            + "{\"line\":3,\"productId\":688,\"product\":\"Product 688\",\"quantity\":1,\"priceCents\":5756}]}",
                    send(shop, "GET", "/orders/42").body());
            assertEquals(404, send(shop, "GET", "/orders/999999999").statusCode());
            String placed = send(shop, "POST", "/orders?customer=7&product=3&quantity=2").body();
            String id = placed.replaceAll("\\D", "");
            String order = send(shop, "GET", "/orders/" + id).body();
            assertTrue(order.contains("\"productId\":3,\"product\":\"Product 3\",\"quantity\":2,\"priceCents\":211"), order);
            assertTrue(send(shop, "GET", "/search?customer=1").body().startsWith("[{\"product\":\"Product "));
            assertEquals("{\"product\":3,\"priceCents\":211}", send(shop, "GET", "/quote/3").body());
            assertTrue(send(shop, "GET", "/invoice/42").body().startsWith("%PDF-"));
            assertEquals("{\"product\":9,\"stock\":999995}", send(shop, "POST", "/stock/9?quantity=5").body());
            assertTrue(send(shop, "GET", "/thread-info?format=json").body().contains("\"virtual\":false"));
        }
    }

    @Test
    void limitHoldsWhereItIsSetAndIsInJmx() throws Exception {
        var limit = new ObjectName("dev.threadcount:type=RequestLimit,name=requests");
        var server = ManagementFactory.getPlatformMBeanServer();
        try (var shop = start("--spring.threads.virtual.enabled=true", "--threadcount.request-limit.max-concurrent=3")) {
            assertTrue(send(shop, "GET", "/thread-info?format=json").body().contains("\"virtual\":true"));
            assertEquals(3, server.getAttribute(limit, "MaxConcurrent"));
            assertEquals(1L, server.getAttribute(limit, "Admitted"));
        }
        assertTrue(!server.isRegistered(limit));
    }

    private static HttpResponse<String> send(ConfigurableApplicationContext shop, String method, String path) throws Exception {
        String port = shop.getEnvironment().getProperty("local.server.port");
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        try (var client = HttpClient.newHttpClient()) {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }
}
