package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Asks for a monitor that a platform thread of the application holds for {@code sleep} at a time, over and over. Before
 * Java 24 a virtual thread that waits to enter a monitor keeps its carrier, without an event.
 */
public final class Contended extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final Object MONITOR = new Object();

    private final transient AtomicReference<Thread> housekeeper = new AtomicReference<>();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, sleep -> {
            startHousekeeper(sleep);
            synchronized (MONITOR) {
                request.setAttribute("entered", Boolean.TRUE);
            }
        });
    }

    /** The time of the first request decides for how long the monitor is held. */
    private void startHousekeeper(Sleep hold) {
        if (housekeeper.get() == null) {
            Thread thread = Thread.ofPlatform().daemon().name("housekeeper").unstarted(() -> keepHouse(hold));
            if (housekeeper.compareAndSet(null, thread)) {
                thread.start();
            }
        }
    }

    private static void keepHouse(Sleep hold) {
        try {
            while (true) {
                synchronized (MONITOR) {
                    hold.blockThisThread();
                }
                Thread.sleep(1);
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void destroy() {
        Thread thread = housekeeper.getAndSet(null);
        if (thread != null) {
            thread.interrupt();
        }
    }
}
