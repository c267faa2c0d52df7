package dev.threadcount.chain.backend;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The backend that the frontends of the chain call three times per response. */
@SpringBootApplication
public class ChainBackend {
    /** Starts it; {@code --server.port=8081 --delay=300ms}. */
    public static void main(String[] args) {
        SpringApplication.run(ChainBackend.class, args);
    }
}
