package dev.threadcount.chain.webflux;

import dev.threadcount.chain.client.BackendClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/** The frontend of the chain as WebFlux on Netty: a few event loops, and no thread that waits. */
@SpringBootApplication
@Import(BackendClient.class)
public class ChainWebFlux {
    /** Starts the frontend, for example with {@code --server.port=8080 --backend.url=http://127.0.0.1:8081}. */
    public static void main(String[] args) {
        SpringApplication.run(ChainWebFlux.class, args);
    }
}
