package dev.threadcount.client;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * Sends many requests at once, each on a virtual thread that blocks: for its response, for its place in the queue of responses, and for a
 * delay after that.
 *
 * @param url the URL of the requests
 * @param delay how long each thread sleeps after its response
 */
public record Client(URI url, Duration delay) {
    /**
     * The outcome of the requests.
     *
     * @param answers the number of responses with status 200
     * @param failures the number of other requests, by cause
     * @param elapsed the time from the first request to the end of the last thread
     */
    public record Outcome(int answers, Map<String, Integer> failures, Duration elapsed) {
        /**
         * The number of all failures.
         *
         * @return the number of requests that did not get status 200
         */
        public int failed() {
            return failures.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    /** A response, or the reason why there is none. */
    private record Answer(String body, String failure) {}

    /**
     * Sends the requests and waits for all of them.
     *
     * @param count the number of requests
     * @param onAnswer gets each body when it comes, on the calling thread
     * @return the outcome of all requests
     * @throws InterruptedException when the calling thread is interrupted
     */
    public Outcome send(int count, Consumer<String> onAnswer) throws InterruptedException {
        var queue = new LinkedBlockingQueue<Answer>();
        var failures = new TreeMap<String, Integer>();
        int answers = 0;
        long started = System.nanoTime();
        try (var client = HttpClient.newHttpClient(); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < count; i++) {
                threads.execute(() -> {
                    queue.add(ask(client));
                    sleepAfterAnswer();
                });
            }
            for (int i = 0; i < count; i++) {
                Answer answer = queue.take();
                if (answer.failure() == null) {
                    answers++;
                    onAnswer.accept(answer.body());
                } else {
                    failures.merge(answer.failure(), 1, Integer::sum);
                }
            }
        }
        return new Outcome(answers, failures, Duration.ofNanos(System.nanoTime() - started));
    }

    /** Sends one request. Never throws: if a thread ended without a result, the caller would wait forever. */
    private Answer ask(HttpClient client) {
        try {
            var response = client.send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.ofString());
            boolean good = response.statusCode() == 200;
            return new Answer(response.body().strip(), good ? null : "status " + response.statusCode());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return new Answer(null, "interrupted");
        } catch (IOException | RuntimeException | Error failed) {
            return new Answer(null, failed.getMessage() == null ? failed.getClass().getSimpleName() : failed.getMessage());
        }
    }

    private void sleepAfterAnswer() {
        try {
            Thread.sleep(delay);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
