package dev.threadcount.executors;

import jakarta.servlet.Servlet;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import javax.management.ObjectName;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.startup.Tomcat;

/** An embedded Tomcat on a free port with one servlet at {@code /}. Its requests run on the executor. */
final class LimitedTomcat implements AutoCloseable {
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final Tomcat tomcat = new Tomcat();
    private final Path folder = Files.createTempDirectory("limited-tomcat");
    private final ObjectName limit;
    private final Context context;
    private final Servlet servlet;

    LimitedTomcat(BoundedVirtualThreadExecutor executor, Servlet servlet) throws Exception {
        limit = new ObjectName("dev.threadcount:type=RequestLimit,name=" + executor.getName());
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        tomcat.getService().addExecutor(executor);
        tomcat.getConnector().getProtocolHandler().setExecutor(executor);
        context = tomcat.addContext("", null);
        this.servlet = servlet;
        addServlet();
        tomcat.start();
    }

    private void addServlet() {
        Tomcat.addServlet(context, "servlet", servlet).setAsyncSupported(true);
        context.addServletMappingDecoded("/", "servlet");
    }

    static BoundedVirtualThreadExecutor executor(int maxConcurrent, int maxQueue, long queueTimeoutMs) {
        var executor = new BoundedVirtualThreadExecutor();
        executor.setName("bounded");
        executor.setMaxConcurrent(maxConcurrent);
        executor.setMaxQueue(maxQueue);
        executor.setQueueTimeoutMs(queueTimeoutMs);
        return executor;
    }

    int port() {
        return tomcat.getConnector().getLocalPort();
    }

    CompletableFuture<HttpResponse<String>> get(String path) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path)).build();
        return CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    /** Reads a figure as a monitoring tool does. */
    long figure(String attribute) throws Exception {
        Object value = ManagementFactory.getPlatformMBeanServer().getAttribute(limit, attribute);
        return ((Number) value).longValue();
    }

    ObjectName limit() {
        return limit;
    }

    void awaitFigure(String attribute, long value) throws Exception {
        Awaiting.until(() -> figure(attribute) == value);
    }

    void restart() throws Exception {
        tomcat.stop();
        // When a context stops, it forgets the servlets that a program added.
        addServlet();
        tomcat.start();
    }

    @Override
    public void close() throws LifecycleException, IOException {
        tomcat.stop();
        tomcat.destroy();
        try (var files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }
}
