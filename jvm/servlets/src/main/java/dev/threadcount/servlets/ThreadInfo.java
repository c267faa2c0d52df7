package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Returns the thread that handles the request, after blocking it for {@code sleep} (for example {@code ?sleep=50ms}; none by default).
 * With {@code format=json} the response is for programs: the thread's name, whether it is virtual, and the Java version.
 */
public final class ThreadInfo extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, Sleep::blockThisThread);
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
