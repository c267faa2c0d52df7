package dev.threadcount.orders;

import dev.threadcount.executors.RequestLimitValve;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The limit of docs/bounded-virtual-threads.md, where {@code shop.max-concurrent} is set. */
@Configuration
@ConditionalOnProperty("shop.max-concurrent")
class LimitConfiguration {
    @Bean
    WebServerFactoryCustomizer<TomcatServletWebServerFactory> requestLimit(
            @Value("${shop.max-concurrent}") int maxConcurrent,
            @Value("${shop.max-queue:1000}") int maxQueue,
            @Value("${shop.queue-timeout-ms:1000}") long queueTimeoutMs) {
        return tomcat -> {
            var limit = new RequestLimitValve();
            limit.setMaxConcurrent(maxConcurrent);
            limit.setMaxQueue(maxQueue);
            limit.setQueueTimeoutMs(queueTimeoutMs);
            tomcat.addEngineValves(limit);
        };
    }
}
