package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Blocks in {@link Object#wait(long)}. Before Java 24 a virtual thread then keeps its carrier, and no event reports it; the scheduler
 * starts more carriers meanwhile, up to {@code jdk.virtualThreadScheduler.maxPoolSize}.
 */
public final class ObjectWait extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, sleep -> {
            long end = System.nanoTime() + sleep.duration().toNanos();
            synchronized (request) {
                for (long left = sleep.duration().toMillis(); left > 0; left = (end - System.nanoTime()) / 1_000_000) {
                    request.wait(left);
                }
            }
        });
    }
}
