package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Instant;

/**
 * Says whether the number at the end of its path is prime: {@code /prime/999983?sleep=100ms}. Each request computes,
 * writes a line to a file, and then blocks its thread, as a request does that asks a database.
 */
public final class Prime extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private transient CsvFile file;

    @Override
    public void init() {
        file = CsvFile.inLogsOfThisServer("primes");
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int number;
        Sleep sleep;
        try {
            number = number(request.getPathInfo());
            sleep = Sleep.parse(request.getParameter("sleep"));
        } catch (IllegalArgumentException wrong) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST, wrong.getMessage());
            return;
        }
        boolean isPrime = isPrime(number);
        String line = Instant.now() + "," + number + "," + isPrime + "," + Thread.currentThread().getName();
        file.append(line);
        try {
            sleep.blockThisThread();
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE, "interrupted while blocking");
            return;
        }
        response.setContentType("text/plain");
        response.setCharacterEncoding("UTF-8");
        response.getWriter().print(number + (isPrime ? " is prime\n" : " is not prime\n") + line + "\n");
    }

    @Override
    public void destroy() {
        file.close();
    }

    static int number(String path) {
        if (path != null && path.matches("/\\d{1,9}")) {
            return Integer.parseInt(path.substring(1));
        }
        throw new IllegalArgumentException("the path must end in a number of at most nine digits: /prime/999983");
    }

    /** Divides by every odd number up to the root: some hundred steps for six digits. */
    static boolean isPrime(int number) {
        if (number < 3 || number % 2 == 0) {
            return number == 2;
        }
        for (int divisor = 3; (long) divisor * divisor <= number; divisor += 2) {
            if (number % divisor == 0) {
                return false;
            }
        }
        return true;
    }
}
