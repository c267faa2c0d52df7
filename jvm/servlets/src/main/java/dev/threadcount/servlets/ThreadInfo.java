package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Says which thread answers, after blocking it for {@code sleep} (for example {@code ?sleep=50ms}; none by default).
 * With {@code format=json} the answer is for programs: the thread's name, whether it is virtual, and the Java version.
 */
public final class ThreadInfo extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
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
            sleep.blockThisThread();
        } catch (InterruptedException stopping) {
            thread.interrupt();
            response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE, "interrupted while sleeping");
            return;
        }
        response.getWriter().print(forPrograms ? json(thread) : page(thread));
    }

    static String page(Thread thread) {
        return """
                <!DOCTYPE html><html>
                <head>
                <meta charset="UTF-8" />
                <title>Thread info</title>
                </head>
                <body><h1>%s</h1></body></html>
                """.formatted(thread.getName());
    }

    static String json(Thread thread) {
        return """
                {"thread": "%s", "virtual": %s, "java": "%s"}
                """.formatted(escape(thread.getName()), thread.isVirtual(), escape(Runtime.version().toString()));
    }

    private static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"");
    }
}
