package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Computes for the time of {@code sleep}: a request that costs CPU and waits for nothing. */
public final class Computing extends HttpServlet {
    private static final long serialVersionUID = 1L;
    static final int BLOCK_BYTES = 4_096;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, sleep -> {
            long end = System.nanoTime() + sleep.duration().toNanos();
            byte[] block = new byte[BLOCK_BYTES];
            while (System.nanoTime() - end < 0) {
                hash(block);
            }
            request.setAttribute("result", block);
        });
    }

    /** Replaces the beginning of the block by its hash, so that the compiler can leave nothing out. */
    static void hash(byte[] block) {
        byte[] digest = sha256().digest(block);
        System.arraycopy(digest, 0, block, 0, digest.length);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
