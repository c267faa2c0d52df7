package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Allocates {@code kb} KiB for each request and keeps the last {@code keep} MiB of them, like an application with a
 * cache; with a limit that is never reached, like one with a leak. With {@code collect=N} every N-th request has the
 * whole heap collected.
 */
public final class Allocating extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int KIB = 1_024;

    /** Blocks of one KiB each, so that the collector has many objects to follow. */
    private static final Deque<byte[]> KEPT = new ArrayDeque<>();
    private static final AtomicInteger REQUESTS = new AtomicInteger();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int kib;
        int kept;
        int collect;
        try {
            kib = number(request, "kb");
            kept = number(request, "keep") * KIB;
            collect = number(request, "collect");
        } catch (IllegalArgumentException wrong) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST, wrong.getMessage());
            return;
        }
        Blocking.answer(request, response, sleep -> {
            allocate(kib, kept);
            if (collect > 0 && REQUESTS.incrementAndGet() % collect == 0) {
                System.gc();
            }
            sleep.blockThisThread();
        });
    }

    private static int number(HttpServletRequest request, String name) {
        String written = request.getParameter(name);
        if (written == null) {
            return 0;
        }
        if (!written.matches("\\d{1,6}")) {
            throw new IllegalArgumentException(name + " must be a whole number");
        }
        return Integer.parseInt(written);
    }

    private static void allocate(int kib, int mostKept) {
        for (int i = 0; i < kib; i++) {
            byte[] block = new byte[KIB];
            synchronized (KEPT) {
                KEPT.addLast(block);
                while (KEPT.size() > mostKept) {
                    KEPT.removeFirst();
                }
            }
        }
    }
}
