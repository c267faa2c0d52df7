package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Allocates {@code kb} KiB for each request and keeps the last {@code keep} MiB of them, like an application with a
 * cache; with a limit that is never reached, like one with a leak.
 */
public final class Allocating extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int KIB = 1_024;

    /** Of one KiB each, so that the collector has many objects to follow. */
    private static final Deque<byte[]> KEPT = new ArrayDeque<>();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int kib;
        int kept;
        try {
            kib = number(request, "kb");
            kept = number(request, "keep") * KIB;
        } catch (IllegalArgumentException wrong) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST, wrong.getMessage());
            return;
        }
        Blocking.answer(request, response, sleep -> {
            allocate(kib, kept);
            sleep.blockThisThread();
        });
    }

    static int number(HttpServletRequest request, String name) {
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
