package dev.threadcount.orders;

import java.util.Map;
import java.util.Objects;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The shop; {@code spring.threads.virtual.enabled} decides its threads, {@code shop.max-concurrent} limits its requests. */
@SpringBootApplication
public class Shop {
    /** Starts it; {@code --server.port=8080}, with the backend's URL in {@code BACKEND_URL}. */
    public static void main(String[] args) {
        start(Objects.requireNonNull(System.getenv("BACKEND_URL"), "BACKEND_URL is not set"), args);
    }

    static ConfigurableApplicationContext start(String backend, String... args) {
        var application = new SpringApplication(Shop.class);
        application.setDefaultProperties(
                Map.of("shop.backend", backend, "spring.datasource.url", new Neighbour(backend).databaseUrl()));
        return application.run(args);
    }
}
