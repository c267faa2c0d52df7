package dev.threadcount.crossover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** However a crossover ends, the server gets its own executor back, and nothing of ours is left. */
class SetBackIT {
    static List<Arguments> servers() throws IOException {
        return SwitchUnderLoadIT.servers();
    }

    @ParameterizedTest
    @MethodSource("servers")
    void closedConnection(Java java, ServerKind kind) throws Exception {
        try (ServerProcess server = kind.start(java)) {
            int port = server.port();
            Clients clients = new Clients(port, 4);
            String own = server.ask("executor");
            Tool tool = Tool.attach(server);
            tool.command("switch platform-3");
            assertNotEquals(own, server.ask("executor"));
            tool.close();
            awaitOwn(server, own);
            clients.stop();
            assertOwn(kind, port);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void silentTool(Java java, ServerKind kind) throws Exception {
        try (ServerProcess server = kind.start(java)) {
            int port = server.port();
            Clients clients = new Clients(port, 4);
            String own = server.ask("executor");
            try (Tool tool = Tool.attachSilently(server)) {
                tool.command("switch virtual-3");
                assertNotEquals(own, server.ask("executor"));
                JsonNode end = tool.read();
                assertEquals("ended", end.get("type").asString());
                assertTrue(end.get("why").asString().startsWith("No command came for"), end.toString());
                assertNull(tool.read());
                assertEquals(own, server.ask("executor"));
            }
            awaitOwn(server, own);
            clients.stop();
            assertOwn(kind, port);
        }
    }

    /** Commands that come during a pause are read after it, and a long pause loses nothing of the treatment. */
    @Test
    void pauseOfTheWholeJvmIsNoSilence() throws Exception {
        try (ServerProcess server = ServerKind.ALL[1].start(Java.newest())) {
            server.port();
            try (Tool tool = Tool.attach(server)) {
                tool.command("switch virtual");
                signal(server, "-STOP");
                TimeUnit.MILLISECONDS.sleep(2_000);
                signal(server, "-CONT");
                for (int i = 0; i < 10; i++) {
                    assertEquals("virtual", tool.ask("status").get("current").get("treatment").asString());
                }
            }
        }
    }

    private static void signal(ServerProcess server, String signal) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", signal, Long.toString(server.pid())).start().waitFor());
    }

    /** A request may outlast the crossover. Its thread ends with it, and the next request runs on a thread of the server. */
    @ParameterizedTest
    @MethodSource("servers")
    void requestThatOutlastsTheCrossover(Java java, ServerKind kind) throws Exception {
        try (ServerProcess server = kind.start(java)) {
            int port = server.port();
            String own = server.ask("executor");
            try (Connection held = new Connection(port); Connection other = new Connection(port)) {
                try (Tool tool = Tool.attach(server)) {
                    tool.command("switch platform-2");
                    // A selector of Jetty that has waited since before the switch runs one more task as before.
                    Awaiting.until("the treatment", () -> other.get("/").thread().contains("threadcount-")
                            && held.get("/").thread().contains("threadcount-"));
                    Awaiting.until("no request runs", () -> {
                        JsonNode current = tool.ask("status").get("current");
                        return current.get("running").asInt() == 0 && current.get("queued").asInt() == 0;
                    });
                    held.send("/hold");
                    Awaiting.until("the request runs",
                            () -> tool.ask("status").get("current").get("running").asInt() == 1);
                    JsonNode restored = tool.command("restore");
                    assertEquals(1, restored.get("previous").get("running").asInt(), restored.toString());
                    assertEquals(false, restored.get("previous").get("washed_out").asBoolean());
                    assertEquals(own, server.ask("executor"));
                    assertTrue(other.get("/").thread().matches(kind.ownThreads()));
                    assertEquals("restored", tool.ask("restore").get("type").asString());
                    server.ask("release");
                    assertTrue(held.receive().startsWith("platform threadcount-platform-"));
                    Awaiting.until("the washout is reported",
                            () -> tool.ask("status").get("previous").get("washed_out").asBoolean());
                }
            }
            awaitOwn(server, own);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void serverThatStopsDuringATreatment(Java java, ServerKind kind) throws Exception {
        for (String treatment : List.of("virtual", "platform-2", "own")) {
            try (ServerProcess server = kind.start(java)) {
                server.port();
                try (Tool tool = Tool.attach(server)) {
                    tool.command("switch " + treatment);
                    FutureTask<String> stop = new FutureTask<>(() -> server.ask("stop"));
                    Thread.ofVirtual().start(stop);
                    Awaiting.until("the session has ended", () -> tool.end() != null);
                    assertTrue(tool.end().get("why").asString().contains("stopped"), tool.end().toString());
                    assertEquals("stopped", stop.get());
                }
                Awaiting.until("neither threads of the server nor ours are left", () -> {
                    String threads = server.ask("threads");
                    return !threads.contains("-exec-") && !threads.contains("qtp") && !threads.contains("threadcount-");
                });
            }
        }
    }

    private static void assertOwn(ServerKind kind, int port) throws IOException {
        try (Connection connection = new Connection(port)) {
            String thread = connection.get("/").thread();
            assertTrue(thread.matches(kind.ownThreads()), thread);
        }
    }

    /** Tests this twice, so that nothing of the first session is in the way of the second. */
    private static void awaitOwn(ServerProcess server, String own) throws Exception {
        Awaiting.until("the server's own executor", () -> server.ask("executor").equals(own));
        Awaiting.until("no thread of ours is left", () -> !server.ask("threads").contains("threadcount-"));
        try (Tool again = Tool.attach(server)) {
            assertEquals("switched", again.ask("switch virtual").get("type").asString());
        }
        Awaiting.until("the server's own executor", () -> server.ask("executor").equals(own));
        Awaiting.until("no thread of ours is left", () -> !server.ask("threads").contains("threadcount-"));
    }
}
