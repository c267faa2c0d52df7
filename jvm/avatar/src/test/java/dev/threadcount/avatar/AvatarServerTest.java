package dev.threadcount.avatar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the server as it is started, on a free port. */
class AvatarServerTest {
    @ParameterizedTest
    @EnumSource
    void whateverIsAskedItRedirectsToOneOfTheImages(ThreadModel threads) throws Exception {
        try (var server = start(threads); var client = HttpClient.newHttpClient()) {
            var seen = new TreeSet<String>();
            for (int i = 0; i < 40; i++) {
                var answer = get(client, server, "/anything/at-all?and=more");
                assertEquals(302, answer.statusCode());
                assertEquals("", answer.body());
                String location = answer.headers().firstValue("Location").orElseThrow();
                assertTrue(location.matches("https://avatar\\.spacefox\\.fr/Renard-([1-9]|1\\d|2[01])\\.png"), location);
                seen.add(location);
            }
            assertTrue(seen.size() > 1, "40 times the same image: " + seen);
        }
    }

    @Test
    void theThreadThatAnswersIsOfTheModelThatWasAskedFor() throws Exception {
        var expected = Map.of(
                ThreadModel.SINGLE, "{\"thread\": \"HTTP-Dispatcher\", \"virtual\": false, \"java\": \"",
                ThreadModel.CACHED, "{\"thread\": \"avatar-1\", \"virtual\": false, \"java\": \"",
                ThreadModel.VIRTUAL, "{\"thread\": \"avatar-1\", \"virtual\": true, \"java\": \"");
        for (var threads : ThreadModel.values()) {
            try (var server = start(threads); var client = HttpClient.newHttpClient()) {
                String said = get(client, server, "/thread-info?format=json").body();
                assertEquals(expected.get(threads) + Runtime.version() + "\"}\n", said);
            }
        }
    }

    @Test
    void optionsAreReadAndWrongOnesAreRefusedWithWhatToWrite() {
        assertEquals(new Options(ThreadModel.VIRTUAL, 9090), Options.parse("--port=9090", "--threads=virtual"));
        assertEquals(new Options(ThreadModel.SINGLE, 8080), Options.parse());
        for (String wrong : new String[] {"--threads=VIRTUAL", "--threads", "--port=x", "--port=65536", "--help"}) {
            var refused = assertThrows(IllegalArgumentException.class, () -> Options.parse(wrong));
            assertTrue(refused.getMessage().contains(wrong + ": write --threads=single|"), refused.getMessage());
        }
    }

    private static AvatarServer start(ThreadModel threads) throws IOException {
        return AvatarServer.start(new Options(threads, 0));
    }

    private static HttpResponse<String> get(HttpClient client, AvatarServer server, String path)
            throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
