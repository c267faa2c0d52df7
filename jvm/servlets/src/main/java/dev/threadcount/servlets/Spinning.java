package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Spins for the time of {@code sleep}, like a wait that does not block, and so holds the carrier of a virtual thread all the time. With
 * {@code by=platform} a new platform thread spins, and the thread of the request waits for it.
 */
public final class Spinning extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        boolean byPlatform = "platform".equals(request.getParameter("by"));
        Blocking.answer(request, response, byPlatform ? Spinning::onAnotherThread : Spinning::onThisThread);
    }

    private static void onThisThread(Sleep sleep) {
        long end = System.nanoTime() + sleep.duration().toNanos();
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    private static void onAnotherThread(Sleep sleep) throws InterruptedException {
        Thread.ofPlatform().daemon().start(() -> onThisThread(sleep)).join();
    }
}
