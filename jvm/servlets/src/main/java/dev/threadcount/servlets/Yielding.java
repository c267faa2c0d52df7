package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Waits for a point in time without blocking: it yields again and again. */
public final class Yielding extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, sleep -> {
            long end = System.nanoTime() + sleep.duration().toNanos();
            while (System.nanoTime() - end < 0) {
                Thread.yield();
            }
        });
    }
}
