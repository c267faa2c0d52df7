package dev.threadcount.avatar.vertx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Vertx;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the server as it is started, on a free port. */
class AvatarVerticleTest {
    @Test
    void itRedirectsFromAnEventLoopThread() throws Exception {
        var vertx = Vertx.vertx();
        try (var client = HttpClient.newHttpClient()) {
            var avatar = new AvatarVerticle(0);
            vertx.deployVerticle(avatar).await(30, TimeUnit.SECONDS);
            String base = "http://127.0.0.1:" + avatar.actualPort();
            var answer = get(client, base + "/anything?and=more");
            assertEquals(302, answer.statusCode());
            String location = answer.headers().firstValue("Location").orElseThrow();
            assertTrue(location.matches("https://avatar\\.spacefox\\.fr/Renard-([1-9]|1\\d|2[01])\\.png"), location);
            String said = get(client, base + "/thread-info?format=json").body();
            assertTrue(said.startsWith("{\"thread\":\"vert.x-eventloop-thread-0\",\"virtual\":false,\"java\":"), said);
        } finally {
            vertx.close().await(30, TimeUnit.SECONDS);
        }
    }

    private static HttpResponse<String> get(HttpClient client, String url) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
    }
}
