package dev.threadcount.executors;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Holds each request until the test lets one more pass. It records who came and how many were inside. */
final class GatedServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    final transient Semaphore gate = new Semaphore(0);
    final transient List<String> entered = new CopyOnWriteArrayList<>();
    final transient List<AsyncContext> started = new CopyOnWriteArrayList<>();
    final transient List<Thread> threads = new CopyOnWriteArrayList<>();
    final AtomicInteger inside = new AtomicInteger();
    final AtomicInteger most = new AtomicInteger();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        entered.add(request.getRequestURI());
        threads.add(Thread.currentThread());
        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
        try {
            answer(request, response);
        } finally {
            inside.decrementAndGet();
        }
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        switch (request.getRequestURI()) {
            case "/throws" -> throw new ServletException("as the test wants it");
            case "/async" -> started.add(request.startAsync());
            case "/async-at-once" -> request.startAsync().complete();
            case "/async-throws" -> {
                request.startAsync();
                throw new ServletException("as the test wants it");
            }
            case "/async-times-out" -> request.startAsync().setTimeout(1);
            case "/async-twice" -> {
                // The request is dispatched to itself once, and becomes asynchronous again there.
                AsyncContext context = request.startAsync();
                if (request.getAttribute("again") == null) {
                    request.setAttribute("again", true);
                    context.dispatch();
                } else {
                    started.add(context);
                }
            }
            case "/streams" -> streamUntilTheClientIsGone(response);
            default -> {
                gate.acquireUninterruptibly();
                response.getWriter().print("done");
            }
        }
    }

    private static void streamUntilTheClientIsGone(HttpServletResponse response) throws IOException {
        while (true) {
            response.getOutputStream().write(new byte[100_000]);
            response.flushBuffer();
        }
    }
}
