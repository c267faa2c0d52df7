package dev.threadcount.waits;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;

/** Calls a service on this machine, at the port {@code port}. */
public final class Neighbour extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().print(ask(Integer.parseInt(request.getParameter("port"))));
    }

    private static int ask(int port) throws IOException {
        URLConnection connection = URI.create("http://127.0.0.1:" + port + "/").toURL().openConnection();
        try (InputStream body = connection.getInputStream()) {
            return body.readAllBytes().length;
        }
    }
}
