package dev.threadcount.orders.webflux;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The shop as a reactive application: an event loop, and no thread that waits. */
@SpringBootApplication
public class ReactiveShop {
    /** Starts the shop, for example with {@code --server.port=8080}. */
    public static void main(String[] args) {
        SpringApplication.run(ReactiveShop.class, args);
    }
}
