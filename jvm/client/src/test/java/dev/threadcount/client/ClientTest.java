package dev.threadcount.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ClientTest {
    private HttpServer server;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private URI url(String path) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }

    private void answers(String path, int status, CyclicBarrier together) {
        server.createContext(path, exchange -> {
            try (exchange) {
                together.await(60, TimeUnit.SECONDS);
                byte[] body = "hello\n".getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(status, body.length);
                exchange.getResponseBody().write(body);
            } catch (Exception never) {
                throw new IllegalStateException(never);
            }
        });
    }

    @Test
    void allRequestsAreUnderWayAtOnce() throws Exception {
        // No request gets a response until all of them have arrived.
        answers("/together", 200, new CyclicBarrier(50));
        var bodies = new ArrayList<String>();
        var outcome = new Client(url("/together"), Duration.ZERO).send(50, bodies::add);
        assertEquals(50, outcome.answers());
        assertEquals(Map.of(), outcome.failures());
        assertEquals(50, bodies.stream().filter("hello"::equals).count());
    }

    @Test
    void theDelayIsAfterTheAnswerAndIsWaitedFor() throws Exception {
        answers("/", 200, new CyclicBarrier(1));
        var outcome = new Client(url("/"), Duration.ofMillis(300)).send(3, body -> {});
        assertTrue(outcome.elapsed().compareTo(Duration.ofMillis(300)) >= 0, outcome.toString());
    }

    @Test
    void failuresAreCountedByTheirCause() throws Exception {
        answers("/bad", 503, new CyclicBarrier(1));
        var outcome = new Client(url("/bad"), Duration.ZERO).send(4, body -> {});
        assertEquals(Map.of("status 503", 4), outcome.failures());
        assertEquals(0, outcome.answers());
        // The system gives port 1 to no process that lets it choose a port.
        var gone = URI.create("http://127.0.0.1:1/");
        assertEquals(2, new Client(gone, Duration.ZERO).send(2, body -> {}).failed());
    }

    @Test
    void uncheckedExceptionsAreFailuresLikeAnyOther() {
        // The JDK's client throws IllegalArgumentException for an unknown scheme and for an impossible port.
        for (String refused : new String[] {"ftp://127.0.0.1/", "http://127.0.0.1:99999/"}) {
            var client = new Client(URI.create(refused), Duration.ZERO);
            var outcome = assertTimeoutPreemptively(Duration.ofSeconds(60), () -> client.send(3, body -> {}), refused);
            assertEquals(3, outcome.failed(), refused);
            assertEquals(0, outcome.answers(), refused);
        }
    }

    @Test
    void wordsThatAreNoNumberOrUrlAreAnsweredWithWhatToWrite() {
        var words = new String[] {"200", "ten"};
        assertEquals(200, Main.number(words, 0, "COUNT", 1, null));
        assertEquals(7, Main.number(words, 2, "DELAY", 0, 7));
        var refused = assertThrows(IllegalArgumentException.class, () -> Main.number(words, 1, "DELAY", 0, 0));
        assertEquals("DELAY must be a whole number from 0, and `ten` is not", refused.getMessage());
        var missing = assertThrows(IllegalArgumentException.class, () -> Main.number(words, 2, "COUNT", 1, null));
        assertEquals("COUNT is missing", missing.getMessage());
        for (String wrong : new String[] {"localhost:8080", "http:/x", "a b"}) {
            assertThrows(IllegalArgumentException.class, () -> Main.url(wrong), wrong);
        }
    }
}
