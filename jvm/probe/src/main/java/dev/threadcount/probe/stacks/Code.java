package dev.threadcount.probe.stacks;

/** Whose code a frame is: the JDK's, a known library's, or the application's. */
public final class Code {
    private static final String[] JDK = {"java.", "javax.", "jdk.", "sun.", "com.sun."};

    private static final String[] LIBRARIES = {
        // Servers and their interfaces
        "jakarta.", "org.apache.catalina.", "org.apache.coyote.", "org.apache.tomcat.", "org.apache.juli.", "org.apache.jasper.",
        "org.eclipse.jetty.", "io.undertow.", "org.xnio.", "org.jboss.", "org.wildfly.", "io.netty.", "io.vertx.", "io.helidon.",
        "io.quarkus.", "io.smallrye.", "org.glassfish.", "com.ibm.ws.", "weblogic.", "io.grpc.", "io.micronaut.",
        "dev.threadcount.executors.",
        // Frameworks
        "org.springframework.", "reactor.", "rx.", "io.reactivex.", "org.reactivestreams.", "org.hibernate.", "org.aspectj.",
        "org.mybatis.", "org.jooq.", "com.google.common.", "com.google.gson.", "com.google.inject.", "com.google.protobuf.",
        "com.google.api.", "com.google.auth.", "com.google.cloud.", "com.fasterxml.", "tools.jackson.", "kotlin.", "kotlinx.", "scala.", "akka.",
        "groovy.", "org.codehaus.groovy.", "io.micrometer.", "io.opentelemetry.", "net.bytebuddy.", "com.github.benmanes.",
        "org.ehcache.", "org.flywaydb.", "io.github.resilience4j.", "com.netflix.hystrix.",
        "com.netflix.client.", "com.netflix.loadbalancer.", "com.netflix.discovery.", "org.thymeleaf.", "freemarker.",
        // Logging
        "ch.qos.logback.", "org.slf4j.", "org.apache.logging.", "org.apache.log4j.",
        // Pools, drivers and clients
        "com.zaxxer.hikari.", "io.agroal.", "io.r2dbc.", "com.mchange.", "oracle.", "org.apache.commons.", "org.postgresql.",
        "com.mysql.", "org.mariadb.", "com.microsoft.sqlserver.", "com.ibm.db2.", "org.h2.", "org.hsqldb.", "org.apache.derby.",
        "com.mongodb.", "redis.clients.", "io.lettuce.", "org.redisson.", "org.apache.kafka.", "com.rabbitmq.", "net.spy.",
        "org.elasticsearch.", "com.datastax.", "software.amazon.", "com.amazonaws.", "com.azure.",
        "org.apache.hc.", "org.apache.http.", "okhttp3.", "okio.", "retrofit2.", "feign.", "org.asynchttpclient.",
    };

    /** Applications that a library's people show it with. */
    private static final String[] SAMPLES = {"org.springframework.samples.", "org.jboss.as.quickstarts."};

    /** While a crossover lasts, below each request, and on Jetty's selectors; so not in the list that the diagnosis has as well. */
    private static final String CROSSOVER = "dev.threadcount.probe.crossover.";

    /** In the name of the class that Spring makes of a bean's, for transactions and the like. */
    private static final String SPRING_PROXY = "$$SpringCGLIB$$";

    private Code() {}

    static boolean isJdk(StackTraceElement frame) {
        return isJdk(frame.getClassName());
    }

    /** By the name of its class. */
    public static boolean isJdk(String type) {
        return startsWithAny(type, JDK);
    }

    static boolean isApplication(StackTraceElement frame) {
        return isApplication(frame.getClassName());
    }

    /** By the name of its class. */
    public static boolean isApplication(String type) {
        return !isJdk(type) && !type.startsWith(CROSSOVER)
                && (!startsWithAny(type, LIBRARIES) || startsWithAny(type, SAMPLES));
    }

    static boolean startsWithAny(String type, String[] prefixes) {
        for (String prefix : prefixes) {
            if (type.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    static String name(StackTraceElement frame) {
        return name(frame.getClassName(), frame.getMethodName(), frame.getLineNumber());
    }

    /** Class, method and line; without the line where the class file has none. A bean's proxy is named as the bean. */
    public static String name(String type, String method, int line) {
        int proxy = type.indexOf(SPRING_PROXY);
        String place = (proxy < 0 ? type : type.substring(0, proxy)) + "." + method;
        return line > 0 ? place + ":" + line : place;
    }
}
