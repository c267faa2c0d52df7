package dev.threadcount.crossover;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** A closed load on kept connections: one request after the other on each. */
final class Clients {
    /** Only a bound: if the server closed its connections, the loop would end earlier. */
    private static final int MOST_REQUESTS = 100_000;

    private final List<FutureTask<List<Response>>> running = new ArrayList<>();
    private volatile boolean stopped;

    Clients(int port, int connections) {
        for (int i = 0; i < connections; i++) {
            FutureTask<List<Response>> client = new FutureTask<>(() -> send(port));
            running.add(client);
            // The server under test may lose a wake-up of a virtual thread (JDK-8373120, Java 25.0.3). A client must not, so it is a
            // platform thread.
            Thread.ofPlatform().daemon().start(client);
        }
    }

    private List<Response> send(int port) throws IOException {
        List<Response> responses = new ArrayList<>();
        try (Connection connection = new Connection(port)) {
            while (!stopped && responses.size() < MOST_REQUESTS) {
                responses.add(connection.get("/"));
            }
        }
        return responses;
    }

    /** All responses, after each client has its last one. */
    List<Response> stop() throws InterruptedException, ExecutionException {
        stopped = true;
        List<Response> all = new ArrayList<>();
        for (FutureTask<List<Response>> client : running) {
            all.addAll(client.get());
        }
        return all;
    }
}
