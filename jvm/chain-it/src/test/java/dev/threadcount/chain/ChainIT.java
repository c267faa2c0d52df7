package dev.threadcount.chain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ChainIT {
    private static final int DELAY_MS = 40;

    private static Jar backend;

    @BeforeAll
    static void startTheBackend() throws IOException {
        backend = Jar.start("chain-backend", "--delay=" + DELAY_MS + "ms");
    }

    @AfterAll
    static void stopTheBackend() {
        backend.close();
    }

    @Test
    void aServletOnJettysPoolAnswersAfterThreeCalls() throws Exception {
        try (Jar frontend = frontend("chain-servlet", "--spring.threads.virtual.enabled=false")) {
            assertAnswersAfterThreeCalls(frontend);
            assertThread(frontend, "\"thread\":\"qtp", "\"virtual\":false");
        }
    }

    @Test
    void aServletOnVirtualThreadsAnswersAfterThreeCalls() throws Exception {
        try (Jar frontend = frontend("chain-servlet", "--spring.threads.virtual.enabled=true")) {
            assertAnswersAfterThreeCalls(frontend);
            assertThread(frontend, "\"thread\":\"jetty-", "\"virtual\":true");
        }
    }

    @Test
    void webFluxOnAnEventLoopAnswersAfterThreeCalls() throws Exception {
        try (Jar frontend = frontend("chain-webflux")) {
            assertAnswersAfterThreeCalls(frontend);
            assertThread(frontend, "\"thread\":\"reactor-http-", "\"virtual\":false");
        }
    }

    @Test
    void eachQuestionNeedsTheAnswerBeforeIt() throws Exception {
        assertEquals(400, backend.get("/authorization/nobody").statusCode());
        assertEquals(404, backend.get("/capabilities/nothing").statusCode());
        String token = backend.get("/authentication").body();
        String role = backend.get("/authorization/" + token).body();
        assertEquals(role, backend.get("/authorization/" + token).body(), "a token has one role");
        assertEquals(role.equals("admin") ? "read, write" : "read", backend.get("/capabilities/" + role).body());
    }

    private static Jar frontend(String module, String... arguments) throws IOException {
        String[] all = new String[arguments.length + 1];
        all[0] = "--backend.url=" + backend.url();
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return Jar.start(module, all);
    }

    private static void assertAnswersAfterThreeCalls(Jar frontend) throws Exception {
        long before = System.nanoTime();
        var answer = frontend.get("/capabilities");
        long tookMs = (System.nanoTime() - before) / 1_000_000;
        assertEquals(200, answer.statusCode(), answer.body());
        assertTrue(Set.of("read", "read, write").contains(answer.body()), answer.body());
        assertTrue(tookMs >= 3 * DELAY_MS, tookMs + " ms");
    }

    private static void assertThread(Jar frontend, String... parts) throws Exception {
        String info = frontend.get("/thread-info?format=json").body();
        for (String part : parts) {
            assertTrue(info.contains(part), info);
        }
    }
}
