package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.Semaphore;

/** Blocks while it holds one of a few permits, like an application with a connection pool that is too small. */
public final class Starved extends HttpServlet {
    private static final long serialVersionUID = 1L;

    static final int PERMITS = 4;

    private static final Semaphore POOL = new Semaphore(PERMITS);

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, Starved::withPermit);
    }

    private static void withPermit(Sleep sleep) throws InterruptedException {
        POOL.acquire();
        try {
            sleep.blockThisThread();
        } finally {
            POOL.release();
        }
    }
}
