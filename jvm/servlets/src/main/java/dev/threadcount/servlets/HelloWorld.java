package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * A page that costs nothing to make. Its body has {@value #BODY_BYTES} bytes, the size that the study "Tomcat 11 and
 * Virtual Threads" (2024) published for Tomcat's own HelloWorld example.
 */
public final class HelloWorld extends HttpServlet {
    private static final long serialVersionUID = 1L;

    static final int BODY_BYTES = 387;

    static final String PAGE = page();

    private static String page() {
        String head = """
                <!DOCTYPE html>
                <html>
                <head>
                <meta charset="UTF-8">
                <title>Hello World!</title>
                </head>
                <body>
                <h1>Hello World!</h1>
                <p>""";
        String tail = "</p>\n</body>\n</html>\n";
        String filler = "The rest of this page is here so that it has the size of the page that was measured before. ";
        int free = BODY_BYTES - head.length() - tail.length();
        return head + filler.repeat(free / filler.length() + 1).substring(0, free) + tail;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/html");
        response.setCharacterEncoding("UTF-8");
        response.getWriter().print(PAGE);
    }
}
