package dev.threadcount.chain.client;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * The three calls to the backend. All frontends make them with this one client (WebClient on Netty, as in the study), so
 * that only the frontends' own threads differ: a servlet blocks on each response, WebFlux goes on when it comes.
 *
 * <p>Each client of a frontend needs a connection of its own to the backend while it waits. A pool smaller than the
 * number of clients would be what is measured, so it is as large as the largest load.
 */
@Component
public class BackendClient {
    private final WebClient web;

    /** Calls the backend at {@code backend.url} over at most {@code backend.connections} connections, all kept alive. */
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

    /** What a role may do. */
    public Mono<String> capabilities(String role) {
        return get("/capabilities/{role}", role);
    }

    private Mono<String> get(String path, Object... context) {
        return web.get().uri(path, context).retrieve().bodyToMono(String.class);
    }
}
