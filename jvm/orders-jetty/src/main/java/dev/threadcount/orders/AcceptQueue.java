package dev.threadcount.orders;

import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.ServerConnector;
import org.springframework.boot.jetty.ConfigurableJettyWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/**
 * Sets how many connections may wait to be accepted, as many as in Tomcat. Jetty uses the JDK's 50, which overflow when a load opens its
 * connections.
 */
@Component
class AcceptQueue implements WebServerFactoryCustomizer<ConfigurableJettyWebServerFactory> {
    private static final int CONNECTIONS = 4_096;

    @Override
    public void customize(ConfigurableJettyWebServerFactory factory) {
        factory.addServerCustomizers(server -> {
            for (Connector connector : server.getConnectors()) {
                if (connector instanceof ServerConnector network) {
                    network.setAcceptQueueSize(CONNECTIONS);
                }
            }
        });
    }
}
