package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Blocks while it holds an uncontended monitor. Before Java 24 (JEP 491) a virtual thread then cannot leave its carrier: it is pinned.
 */
public final class Synchronized extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, sleep -> {
            // Each thread has its own request object, and the whole server knows it, so that no compiler can prove the monitor useless and
            // remove it.
            synchronized (request) {
                sleep.blockThisThread();
            }
        });
    }
}
