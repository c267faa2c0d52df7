package dev.threadcount.crossover;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.AbstractProtocol;

/** An embedded Tomcat. Arguments: {@code custom} for an executor of the program, {@code nio2} for that connector. */
final class TomcatSubject implements Subject {
    private final Tomcat tomcat = new Tomcat();
    private final ExecutorService custom = Executors.newFixedThreadPool(8, task -> new Thread(task, "custom-1"));

    private TomcatSubject(String option) throws Exception {
        Connector connector = new Connector(option.equals("nio2") ? "org.apache.coyote.http11.Http11Nio2Protocol" : "HTTP/1.1");
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxKeepAliveRequests", "-1");
        if (option.equals("custom")) {
            ((AbstractProtocol<?>) connector.getProtocolHandler()).setExecutor(custom);
        }
        tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
        tomcat.setConnector(connector);
        var context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "subject", new HttpServlet() {
            private static final long serialVersionUID = 1;

            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
                byte[] body = handle(request.getRequestURI()).getBytes();
                response.setContentLength(body.length);
                response.getOutputStream().write(body);
            }
        });
        context.addServletMappingDecoded("/", "subject");
        tomcat.start();
    }

    private static String handle(String path) {
        return Subject.handle(path);
    }

    @Override
    public int port() {
        return tomcat.getConnector().getLocalPort();
    }

    @Override
    public void stop() throws Exception {
        tomcat.stop();
        tomcat.destroy();
    }

    @Override
    public Object executor() {
        return tomcat.getConnector().getProtocolHandler().getExecutor();
    }

    public static void main(String[] arguments) throws Exception {
        Subject.serve(new TomcatSubject(arguments.length == 0 ? "" : arguments[0]));
    }
}
