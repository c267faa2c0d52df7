package dev.threadcount.crossover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Treatments that follow each other while requests flow over kept connections. */
class SwitchUnderLoadIT {
    private static final List<String> TREATMENTS = List.of("own", "virtual", "platform-6", "virtual-4");
    private static final int PERIODS = 20;
    private static final int PERIOD_MS = 200;
    private static final int CONNECTIONS = 12;

    /** @param sureFromNs from this time until {@code sureUntilNs} a task that is handed over surely belongs to the period */
    private record Period(String treatment, long sureFromNs, long sureUntilNs) {}

    static List<Arguments> servers() throws IOException {
        List<Arguments> all = new ArrayList<>();
        for (Java java : Java.all()) {
            for (ServerKind server : ServerKind.ALL) {
                all.add(Arguments.of(java, server));
            }
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("servers")
    void noRequestIsLostAndEachRunsOnTheKindOfThreadOfItsPeriod(Java java, ServerKind kind) throws Exception {
        try (ServerProcess server = kind.start(java)) {
            int port = server.port();
            String own = server.ask("executor");
            Clients clients = new Clients(port, CONNECTIONS);
            List<Period> periods = new ArrayList<>();
            JsonNode last;
            try (Tool tool = Tool.attach(server)) {
                switchTreatments(tool, port, periods);
                List<Response> responses = clients.stop();
                check(kind, periods, responses);
                JsonNode[] status = new JsonNode[1];
                Awaiting.until("every task has ended", () -> {
                    status[0] = tool.ask("status");
                    JsonNode current = status[0].get("current");
                    return current.get("running").asInt() == 0 && current.get("queued").asInt() == 0;
                });
                last = status[0];
                checkCounts(last, responses.size());
                tool.command("restore");
                assertEquals(own, server.ask("executor"));
            }
            assertEquals(own, server.ask("executor"));
            Awaiting.until("no thread of ours is left", () -> !server.ask("threads").contains("threadcount-"));
        }
    }

    private static void switchTreatments(Tool tool, int port, List<Period> periods) throws Exception {
        JsonNode earlier = null;
        for (int i = 0; i <= PERIODS; i++) {
            JsonNode before = tool.ask("status");
            JsonNode reply = tool.command("switch " + TREATMENTS.get(i % TREATMENTS.size()) + " " + port);
            if (earlier != null) {
                assertTrue(reply.get("previous").get("kind_as_asked").asBoolean(), reply.toString());
                periods.add(new Period(earlier.get("current").get("treatment").asString(), sureFromNs(before),
                        reply.get("before_ns").asLong()));
            }
            earlier = reply;
            TimeUnit.MILLISECONDS.sleep(PERIOD_MS);
        }
    }

    /** A task of Tomcat also takes the next request of its connection if it has arrived, even after a switch. */
    private static long sureFromNs(JsonNode status) {
        if (!status.has("previous")) {
            return status.get("current").get("began_ns").asLong();
        }
        JsonNode previous = status.get("previous");
        return previous.get("washed_out").asBoolean() ? previous.get("last_end_ns").asLong() : Long.MAX_VALUE;
    }

    private static void check(ServerKind kind, List<Period> periods, List<Response> responses) {
        Map<String, String> expected = Map.of("own", kind.ownThreads(), "virtual", "virtual threadcount-virtual-\\d+",
                "platform-6", "platform threadcount-platform-\\d+", "virtual-4", "virtual threadcount-virtual-\\d+");
        Set<String> found = new HashSet<>();
        for (Response response : responses) {
            for (Period period : periods) {
                if (response.sentNs() > period.sureFromNs() && response.receivedNs() < period.sureUntilNs()) {
                    assertTrue(response.thread().matches(expected.get(period.treatment())),
                            period.treatment() + ": " + response.thread());
                    found.add(period.treatment());
                }
            }
        }
        assertEquals(Set.copyOf(TREATMENTS), found);
    }

    private static void checkCounts(JsonNode status, int responses) {
        long handedOver = 0;
        for (JsonNode treatment : status.get("treatments")) {
            assertEquals(treatment.get("handed_over").asLong(), treatment.get("ended").asLong(), status.toString());
            assertEquals(0, treatment.get("fell_back").asLong(), status.toString());
            assertEquals(0, treatment.get("rejected").asLong(), status.toString());
            handedOver += treatment.get("handed_over").asLong();
        }
        // Tasks before the first switch are not counted. A task may have several requests, and closing a connection is a task too.
        assertTrue(handedOver > 0 && handedOver <= responses + 2 * CONNECTIONS, handedOver + " of " + responses);
        assertTrue(status.get("previous").get("washed_out").asBoolean(), status.toString());
    }
}
