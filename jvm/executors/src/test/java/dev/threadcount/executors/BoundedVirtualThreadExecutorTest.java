package dev.threadcount.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.util.ServerInfo;
import org.apache.tomcat.util.IntrospectionUtils;
import org.junit.jupiter.api.Test;

/** Tests on a real Tomcat. The pom runs them on 10.0, 10.1 and 11. */
class BoundedVirtualThreadExecutorTest {
    private static final long LONG_MS = 60_000;

    private final GatedServlet servlet = new GatedServlet();

    @Test
    void tomcatIsTheOneThatThisExecutionIsFor() {
        String wanted = System.getProperty("tomcat.line", "10.0");
        assertTrue(ServerInfo.getServerNumber().startsWith(wanted + "."), ServerInfo.getServerNumber());
    }

    @Test
    void asManyRequestsRunAtOnceAsTheLimitSaysAndAllOfThemOnVirtualThreads() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(3, 100, LONG_MS), servlet)) {
            var responses = new ArrayList<CompletableFuture<HttpResponse<String>>>();
            for (int request = 0; request < 20; request++) {
                responses.add(tomcat.get("/"));
            }
            tomcat.awaitFigure("Queued", 17);
            assertEquals(3, tomcat.figure("Running"));
            assertEquals(3, servlet.inside.get());
            servlet.gate.release(20);
            for (var response : responses) {
                assertEquals(200, response.get().statusCode());
            }
            tomcat.awaitFigure("Running", 0);
            assertEquals(3, servlet.most.get());
            assertEquals(20, tomcat.figure("Admitted"));
            assertTrue(servlet.threads.stream().allMatch(Thread::isVirtual));
            assertTrue(servlet.threads.getFirst().getName().startsWith("virtual-"));
        }
    }

    @Test
    void waitingRequestsRunInTheOrderInWhichTheyCame() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(1, 10, LONG_MS), servlet)) {
            var responses = new ArrayList<CompletableFuture<HttpResponse<String>>>();
            var paths = List.of("/0", "/1", "/2", "/3", "/4", "/5");
            for (String path : paths) {
                responses.add(tomcat.get(path));
                int sent = responses.size();
                Awaiting.until(() -> tomcat.figure("Running") == 1 && tomcat.figure("Queued") == sent - 1);
            }
            servlet.gate.release(paths.size());
            for (var response : responses) {
                response.get();
            }
            assertEquals(paths, servlet.entered);
        }
    }

    @Test
    void requestBeyondTheQueueGets503AndWhenToComeAgain() throws Exception {
        var executor = LimitedTomcat.executor(1, 1, LONG_MS);
        executor.setRetryAfterSeconds(7);
        try (var tomcat = new LimitedTomcat(executor, servlet)) {
            var running = tomcat.get("/");
            tomcat.awaitFigure("Running", 1);
            var waiting = tomcat.get("/");
            tomcat.awaitFigure("Queued", 1);
            var rejected = tomcat.get("/").get();
            assertEquals(503, rejected.statusCode());
            assertEquals("7", rejected.headers().firstValue("Retry-After").orElseThrow());
            assertEquals("The server is busy. Try again later.\n", rejected.body());
            assertEquals(1, tomcat.figure("Rejected"));
            servlet.gate.release(2);
            assertEquals(200, running.get().statusCode());
            assertEquals(200, waiting.get().statusCode());
            assertEquals(0, tomcat.figure("TimedOut"));
        }
    }

    @Test
    void requestThatWaitedTooLongGets503AndIsCounted() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(1, 10, 10), servlet)) {
            var running = tomcat.get("/");
            tomcat.awaitFigure("Running", 1);
            var late = tomcat.get("/").get();
            assertEquals(503, late.statusCode());
            assertEquals("1", late.headers().firstValue("Retry-After").orElseThrow());
            assertEquals(List.of(1L, 0L, 0L), figures(tomcat, "TimedOut", "Rejected", "Queued"));
            servlet.gate.release();
            assertEquals(200, running.get().statusCode());
        }
    }

    @Test
    void tomcatClosesTheConnectionAfterA503AndKeepsItAfterA429() throws Exception {
        assertEquals(List.of("HTTP/1.1 503 ", "closed"), statusesOnOneConnection(503));
        assertEquals(List.of("HTTP/1.1 429 ", "HTTP/1.1 429 "), statusesOnOneConnection(429));
    }

    private List<String> statusesOnOneConnection(int rejectionStatus) throws Exception {
        var executor = LimitedTomcat.executor(1, 0, 0);
        executor.setRejectionStatus(rejectionStatus);
        try (var tomcat = new LimitedTomcat(executor, servlet); var socket = new Socket("127.0.0.1", tomcat.port())) {
            tomcat.get("/");
            tomcat.awaitFigure("Running", 1);
            var statuses = List.of(status(socket), status(socket));
            servlet.gate.release();
            return statuses;
        }
    }

    /** Sends a request and reads its response: the status line up to its reason, or {@code closed}. */
    private static String status(Socket socket) throws Exception {
        try {
            socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            var response = new StringBuilder();
            while (response.indexOf("later.\n") < 0) {
                int letter = socket.getInputStream().read();
                if (letter < 0) {
                    return "closed";
                }
                response.append((char) letter);
            }
            return response.substring(0, "HTTP/1.1 503 ".length());
        } catch (java.io.IOException reset) {
            return "closed";
        }
    }

    @Test
    void slotIsFreeAgainWhenTheServletThrows() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(1, 10, LONG_MS), servlet)) {
            for (int request = 0; request < 3; request++) {
                assertEquals(500, tomcat.get("/throws").get().statusCode());
            }
            tomcat.awaitFigure("Running", 0);
        }
    }

    @Test
    void slotIsFreeAgainWhenTheClientGoesAway() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(1, 10, LONG_MS), servlet)) {
            try (var socket = new Socket("127.0.0.1", tomcat.port())) {
                socket.getOutputStream().write("GET /streams HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                tomcat.awaitFigure("Running", 1);
            }
            tomcat.awaitFigure("Running", 0);
            servlet.gate.release();
            assertEquals(200, tomcat.get("/").get().statusCode());
        }
    }

    @Test
    void asynchronousRequestKeepsItsSlotUntilItIsComplete() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(1, 10, LONG_MS), servlet)) {
            var response = tomcat.get("/async");
            Awaiting.until(() -> servlet.started.size() == 1 && servlet.inside.get() == 0);
            var next = tomcat.get("/");
            tomcat.awaitFigure("Queued", 1);
            assertEquals(1, tomcat.figure("Running"));
            assertEquals(List.of("/async"), servlet.entered);
            servlet.started.getFirst().complete();
            assertEquals(200, response.get().statusCode());
            servlet.gate.release();
            assertEquals(200, next.get().statusCode());
            tomcat.awaitFigure("Running", 0);
        }
    }

    @Test
    void asynchronousRequestThatIsDispatchedTakesNoSecondSlot() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(1, 0, 0), servlet)) {
            var response = tomcat.get("/async-twice");
            Awaiting.until(() -> servlet.started.size() == 1 && servlet.inside.get() == 0);
            assertEquals(1, tomcat.figure("Running"));
            servlet.started.getFirst().complete();
            assertEquals(200, response.get().statusCode());
            tomcat.awaitFigure("Running", 0);
            assertEquals(1, tomcat.figure("Admitted"));
        }
    }

    @Test
    void asynchronousRequestGivesItsSlotBackHoweverItEnds() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(1, 10, LONG_MS), servlet)) {
            assertEquals(200, tomcat.get("/async-at-once").get().statusCode());
            tomcat.awaitFigure("Running", 0);
            assertEquals(500, tomcat.get("/async-times-out").get().statusCode());
            tomcat.awaitFigure("Running", 0);
            assertEquals(2, tomcat.figure("Admitted"));
            // Tomcat closes the connection without a response.
            tomcat.get("/async-throws").handle((response, failure) -> response == null ? 500 : response.statusCode()).get();
            tomcat.awaitFigure("Running", 0);
            assertTrue(tomcat.figure("Admitted") >= 3);
        }
    }

    @Test
    void figuresInJmxAreDescribedAndGoWithTheServer() throws Exception {
        var server = ManagementFactory.getPlatformMBeanServer();
        var tomcat = new LimitedTomcat(LimitedTomcat.executor(5, 6, 7), servlet);
        try (tomcat) {
            assertEquals(List.of(5L, 6L, 7L), figures(tomcat, "MaxConcurrent", "MaxQueue", "QueueTimeoutMs"));
            assertEquals(List.of(0L, 0L, 0L, 0L, 0L), figures(tomcat, "Running", "Queued", "Admitted", "Rejected", "TimedOut"));
            var attributes = server.getMBeanInfo(tomcat.limit()).getAttributes();
            assertEquals(8, attributes.length);
            assertTrue(Arrays.stream(attributes).allMatch(it -> it.getDescription().length() > it.getName().length() + 5));
        }
        assertFalse(server.isRegistered(tomcat.limit()));
    }

    @Test
    void limitHoldsAfterARestartToo() throws Exception {
        try (var tomcat = new LimitedTomcat(LimitedTomcat.executor(1, 0, 0), servlet)) {
            tomcat.restart();
            var running = tomcat.get("/");
            tomcat.awaitFigure("Running", 1);
            assertEquals(503, tomcat.get("/").get().statusCode());
            servlet.gate.release();
            assertEquals(200, running.get().statusCode());
        }
    }

    @Test
    void attributesOfServerXmlReachTheExecutorTheWayTomcatSetsThem() {
        var executor = new BoundedVirtualThreadExecutor();
        for (String attribute : List.of("maxConcurrent", "maxQueue", "queueTimeoutMs", "retryAfterSeconds", "rejectionStatus")) {
            assertTrue(IntrospectionUtils.setProperty(executor, attribute, "429"), attribute);
            assertTrue(IntrospectionUtils.setProperty(new RequestLimitValve(), attribute, "429"), attribute);
        }
    }

    @Test
    void limitThatIsNoneIsRefusedAtTheStart() {
        var refused = assertThrows(LifecycleException.class, LimitedTomcat.executor(0, 1, 1)::start);
        assertEquals("maxConcurrent must be at least 1, not 0", rootOf(refused).getMessage());
    }

    @Test
    void executorOutsideAServiceSaysThatItCannotAddItsLimit() {
        var refused = assertThrows(LifecycleException.class, LimitedTomcat.executor(1, 1, 1)::start);
        assertTrue(rootOf(refused).getMessage().startsWith("the executor bounded belongs to no Service"), refused::toString);
    }

    private static Throwable rootOf(Throwable thrown) {
        return thrown.getCause() == null ? thrown : rootOf(thrown.getCause());
    }

    private static List<Long> figures(LimitedTomcat tomcat, String... attributes) throws Exception {
        var figures = new ArrayList<Long>();
        for (String attribute : attributes) {
            figures.add(tomcat.figure(attribute));
        }
        return figures;
    }
}
