package dev.threadcount.waits;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.SynchronousQueue;

/**
 * Each request waits for one of the tickets that come every ten milliseconds; every two seconds there is one for everybody. With
 * {@code order=arrival} the queue is fair. Without it whoever came last goes first: who was just served comes back and is served again,
 * and the others wait until there is one for everybody.
 */
public final class Turnstile extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int PERIOD_MS = 10;
    private static final int PERIODS = 200;
    private static final int EVERYBODY = 50;
    private static final SynchronousQueue<Integer> LAST_FIRST = new SynchronousQueue<>();
    private static final SynchronousQueue<Integer> BY_ARRIVAL = new SynchronousQueue<>(true);

    private transient Thread tickets;

    @Override
    public void init() {
        tickets = Thread.ofPlatform().daemon().start(Turnstile::handOut);
    }

    @Override
    public void destroy() {
        tickets.interrupt();
    }

    private static void handOut() {
        try {
            for (int period = 1; ; period++) {
                Thread.sleep(PERIOD_MS);
                for (int ticket = 0; ticket < (period % PERIODS == 0 ? EVERYBODY : 1); ticket++) {
                    // If nobody waits, nobody gets the ticket.
                    LAST_FIRST.offer(ticket);
                    BY_ARRIVAL.offer(ticket);
                }
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
        try {
            pass("arrival".equals(request.getParameter("order")) ? BY_ARRIVAL : LAST_FIRST);
        } catch (InterruptedException stopping) {
            throw new ServletException(stopping);
        }
        response.getWriter().print("passed");
    }

    private static void pass(SynchronousQueue<Integer> queue) throws InterruptedException {
        queue.take();
    }
}
