package dev.threadcount.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A Spring Boot application as in its documentation. {@code spring.threads.virtual.enabled} decides its threads. */
@SpringBootApplication
public class Application {
    /** Starts the application, for example with {@code --server.port=8080 --spring.threads.virtual.enabled=true}. */
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }
}
