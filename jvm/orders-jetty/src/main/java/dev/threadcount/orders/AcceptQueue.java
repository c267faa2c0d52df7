package dev.threadcount.orders;

import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.ServerConnector;
import org.springframework.boot.jetty.ConfigurableJettyWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** As many connections may wait to be accepted as at Tomcat. Jetty leaves it to the JDK, whose 50 overflow when a load opens its connections. */
@Configuration(proxyBeanMethods = false)
class AcceptQueue {
    private static final int CONNECTIONS = 4_096;

    @Bean
    WebServerFactoryCustomizer<ConfigurableJettyWebServerFactory> acceptQueue() {
        return factory -> factory.addServerCustomizers(server -> {
            for (Connector connector : server.getConnectors()) {
                if (connector instanceof ServerConnector network) {
                    network.setAcceptQueueSize(CONNECTIONS);
                }
            }
        });
    }
}
