package dev.threadcount.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests the application as {@code main} starts it, on its own port. */
class ApplicationIT {
    @Test
    void withoutVirtualThreadsTomcatsPoolAnswers() throws Exception {
        try (var application = start(false)) {
            assertEquals("Hello World!", get(application, "/hello").body());
            String info = get(application, "/thread-info?format=json").body();
            assertTrue(info.contains("\"virtual\":false"), info);
            assertTrue(info.contains("\"java\":\"" + Runtime.version()), info);
            assertTrue(get(application, "/thread-info").body().matches("http-nio-auto-1-exec-\\d+"), info);
        }
    }

    @Test
    void withVirtualThreadsAVirtualThreadAnswers() throws Exception {
        try (var application = start(true)) {
            String info = get(application, "/thread-info?format=json").body();
            assertTrue(info.contains("\"virtual\":true"), info);
            assertTrue(get(application, "/thread-info").body().matches("tomcat-handler-\\d+"), info);
        }
    }

    @Test
    void anAnswerWaitsForItsSleepAndASleepThatIsNoDurationIsRefused() throws Exception {
        try (var application = start(true)) {
            long before = System.nanoTime();
            assertEquals(200, get(application, "/thread-info?sleep=50ms").statusCode());
            assertTrue(System.nanoTime() - before >= 50_000_000);
            assertEquals(400, get(application, "/thread-info?sleep=soon").statusCode());
        }
    }

    private static ConfigurableApplicationContext start(boolean virtual) {
        return SpringApplication.run(
                Application.class, "--server.port=0", "--spring.threads.virtual.enabled=" + virtual);
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext application, String path)
            throws IOException, InterruptedException {
        String port = application.getEnvironment().getProperty("local.server.port");
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
        try (var client = HttpClient.newHttpClient()) {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }
}
