package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * A fixed amount of work per request, whereas {@link Computing} takes a fixed time: SHA-256 over as many blocks of 4 KiB as the system
 * property {@code hashing.blocks} says. So one variant can cost exactly three percent more than another.
 */
public final class Hashing extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int BLOCKS = Integer.getInteger("hashing.blocks", 1_000);

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, sleep -> {
            byte[] block = new byte[Computing.BLOCK_BYTES];
            for (int i = 0; i < BLOCKS; i++) {
                Computing.hash(block);
            }
            request.setAttribute("result", block);
        });
    }
}
