package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** The common part of servlets that block their thread: the {@code sleep} parameter and the errors in the answer. */
final class Blocking {
    /** A way to block for a while. */
    interface Way {
        void block(Sleep sleep) throws InterruptedException;
    }

    private Blocking() {}

    /** Blocks and then answers with the thread that did; {@code format=json} is for programs. */
    static void answer(HttpServletRequest request, HttpServletResponse response, Way way) throws IOException {
        Sleep sleep;
        try {
            sleep = Sleep.parse(request.getParameter("sleep"));
        } catch (IllegalArgumentException wrong) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST, wrong.getMessage());
            return;
        }
        boolean forPrograms = "json".equals(request.getParameter("format"));
        response.setContentType(forPrograms ? "application/json" : "text/html");
        response.setCharacterEncoding("UTF-8");
        Thread thread = Thread.currentThread();
        try {
            way.block(sleep);
        } catch (InterruptedException stopping) {
            thread.interrupt();
            response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE, "interrupted while blocking");
            return;
        }
        response.getWriter().print(forPrograms ? ThreadInfo.json(thread) : ThreadInfo.page(thread));
    }
}
