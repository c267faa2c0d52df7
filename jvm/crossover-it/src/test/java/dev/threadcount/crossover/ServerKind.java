package dev.threadcount.crossover;

import java.io.IOException;

/**
 * A server that can be switched.
 *
 * @param jars the folder of its jars
 * @param product the beginning of its name
 * @param ownThreads a pattern for the report of its own threads
 */
record ServerKind(String jars, String type, String product, String ownThreads) {
    static final ServerKind[] ALL = {
        new ServerKind("tomcat-10.1", "TomcatSubject", "Tomcat 10.1.", "platform http-nio-.*-exec-\\d+"),
        new ServerKind("tomcat-11", "TomcatSubject", "Tomcat 11.0.", "platform http-nio-.*-exec-\\d+"),
        new ServerKind("jetty-12.0", "JettySubject", "Jetty 12.0.", "platform qtp.*"),
        new ServerKind("jetty-12.1", "JettySubject", "Jetty 12.1.", "platform qtp.*"),
        new ServerKind(".", "JdkSubject", "JDK HttpServer", "platform custom-1"),
    };

    ServerProcess start(Java java, String... arguments) throws IOException {
        return ServerProcess.subject(java, jars, type, arguments);
    }

    @Override
    public String toString() {
        return product;
    }
}
