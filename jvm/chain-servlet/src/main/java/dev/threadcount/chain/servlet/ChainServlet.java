package dev.threadcount.chain.servlet;

import dev.threadcount.chain.client.BackendClient;
import org.eclipse.jetty.server.ServerConnector;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.embedded.jetty.JettyServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** The frontend of the chain as a servlet on Jetty. {@code spring.threads.virtual.enabled} decides its threads. */
@SpringBootApplication
@Import(BackendClient.class)
public class ChainServlet {
    /** Starts the frontend, for example with {@code --server.port=8080 --backend.url=http://127.0.0.1:8081}. */
    public static void main(String[] args) {
        SpringApplication.run(ChainServlet.class, args);
    }

    /**
     * Sets how many connections the kernel holds before {@code accept}. Jetty's 50 are too few if a thousand clients connect at once, and
     * Spring Boot has no property for it. Netty has as many as the kernel allows, usually 4,096.
     */
    @Bean
    WebServerFactoryCustomizer<JettyServletWebServerFactory> acceptQueue(@Value("${accept-queue:4096}") int size) {
        return factory -> factory.addServerCustomizers(server -> {
            for (var connector : server.getConnectors()) {
                if (connector instanceof ServerConnector listening) {
                    listening.setAcceptQueueSize(size);
                }
            }
        });
    }
}
