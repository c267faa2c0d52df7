package dev.threadcount.chain.backend;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The backend of the chain. Its frontends call it three times per response. */
@SpringBootApplication
public class ChainBackend {
    /** Starts the backend, for example with {@code --server.port=8081 --delay=300ms}. */
    public static void main(String[] args) {
        SpringApplication.run(ChainBackend.class, args);
    }
}
