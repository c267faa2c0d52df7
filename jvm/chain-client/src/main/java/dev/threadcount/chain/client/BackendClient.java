package dev.threadcount.chain.client;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * Makes the three calls to the backend. All frontends use this client (WebClient on Netty, as in the study), so that only their own threads
 * differ: a servlet blocks on each response, WebFlux continues when it comes.
 *
 * <p>While a client of a frontend waits, it needs a connection to the backend. A small pool would be what is measured, so the pool is as
 * large as the largest load.
 */
@Component
public class BackendClient {
    private final WebClient web;

    /** Calls the backend at {@code backend.url} over at most {@code backend.connections} connections, all of which are kept alive. */
    public BackendClient(
            @Value("${backend.url}") String url, @Value("${backend.connections:20000}") int connections) {
        var pool = ConnectionProvider.create("backend", connections);
        this.web = WebClient.builder()
                .baseUrl(url)
                .clientConnector(new ReactorClientHttpConnector(HttpClient.create(pool)))
                .build();
    }

    /** A token. */
    public Mono<String> authentication() {
        return get("/authentication");
    }

    /** The role of a token. */
    public Mono<String> authorization(String token) {
        return get("/authorization/{token}", token);
    }

    public Mono<String> capabilities(String role) {
        return get("/capabilities/{role}", role);
    }

    private Mono<String> get(String path, Object... context) {
        return web.get().uri(path, context).retrieve().bodyToMono(String.class);
    }
}
