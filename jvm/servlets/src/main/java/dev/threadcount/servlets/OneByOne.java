package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/** Blocks while it holds a lock, or with {@code by=monitor} a monitor, so that requests run one after the other. */
public final class OneByOne extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Object MONITOR = new Object();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        boolean byMonitor = "monitor".equals(request.getParameter("by"));
        Blocking.answer(request, response, byMonitor ? OneByOne::withMonitor : OneByOne::withLock);
    }

    private static void withLock(Sleep sleep) throws InterruptedException {
        LOCK.lockInterruptibly();
        try {
            sleep.blockThisThread();
        } finally {
            LOCK.unlock();
        }
    }

    private static void withMonitor(Sleep sleep) throws InterruptedException {
        synchronized (MONITOR) {
            sleep.blockThisThread();
        }
    }
}
