package dev.threadcount.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A Spring Boot application as its own documentation writes one; {@code spring.threads.virtual.enabled} decides its threads. */
@SpringBootApplication
public class Application {
    /** Starts it; {@code --server.port=8080 --spring.threads.virtual.enabled=true} and the like. */
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }
}
