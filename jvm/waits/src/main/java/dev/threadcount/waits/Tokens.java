package dev.threadcount.waits;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Each request takes one of four tokens from a queue, keeps it for {@code ms} milliseconds, and puts it back. */
public final class Tokens extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final BlockingQueue<Integer> TOKENS = new ArrayBlockingQueue<>(4, false, List.of(1, 2, 3, 4));

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
        try {
            Integer token = take();
            Thread.sleep(Long.parseLong(request.getParameter("ms")));
            TOKENS.put(token);
        } catch (InterruptedException stopping) {
            throw new ServletException(stopping);
        }
        response.getWriter().print("had a token");
    }

    private static Integer take() throws InterruptedException {
        return TOKENS.take();
    }
}
