package dev.threadcount.waits;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.client.HttpClient;

/** Calls a service on this machine, at the port {@code port}, through Jetty's client with four connections. */
public final class ClientPool extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int CONNECTIONS = 4;

    private final transient HttpClient client = new HttpClient();

    @Override
    public void init() throws ServletException {
        client.setMaxConnectionsPerDestination(CONNECTIONS);
        try {
            client.start();
        } catch (Exception failed) {
            throw new ServletException(failed);
        }
    }

    @Override
    public void destroy() {
        try {
            client.stop();
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().print(ask(Integer.parseInt(request.getParameter("port"))));
    }

    private int ask(int port) throws IOException {
        try {
            return client.GET("http://127.0.0.1:" + port + "/").getContent().length;
        } catch (InterruptedException | ExecutionException | TimeoutException failed) {
            throw new IOException(failed);
        }
    }
}
