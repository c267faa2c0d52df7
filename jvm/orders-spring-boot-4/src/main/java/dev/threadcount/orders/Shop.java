package dev.threadcount.orders;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * The shop. {@code spring.threads.virtual.enabled} decides its threads, {@code threadcount.request-limit.max-concurrent} limits its
 * requests, and {@code spring.datasource.url} and {@code shop.neighbour} name the services behind it.
 */
@SpringBootApplication
public class Shop {
    /** Starts the shop, for example with {@code --server.port=8080}. */
    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }
}
