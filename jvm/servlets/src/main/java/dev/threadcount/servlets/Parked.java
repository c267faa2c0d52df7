package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts {@code threads} virtual threads that stay parked until the server ends, with stacks as deep as those of requests, and
 * answers when all of them are: a server with many connections, for those who look at all threads.
 */
public final class Parked extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int FRAMES = 60;
    private static final int MOST = 100_000;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int threads = Integer.parseInt(request.getParameter("threads"));
        if (threads < 0 || threads > MOST) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST, "threads must be a number up to " + MOST);
            return;
        }
        try {
            park(threads);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
        response.getWriter().print(threads);
    }

    /** Starts the threads and returns when all of them have come to the place where they park. */
    static void park(int threads) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(threads);
        for (int thread = 0; thread < threads; thread++) {
            Thread.ofVirtual().name("parked-" + thread).start(() -> parkUnder(FRAMES, begun));
        }
        begun.await();
    }

    private static void parkUnder(int frames, CountDownLatch begun) {
        if (frames > 0) {
            parkUnder(frames - 1, begun);
            return;
        }
        begun.countDown();
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
        }
    }
}
