package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;

/**
 * Blocks in a class initializer, which the JVM itself calls. With such a frame on its stack a virtual thread cannot leave its carrier in
 * any Java so far. Each request defines its own class, because a class is initialized only once.
 */
public final class Initializer extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final byte[] BLOCKS_WHEN_INITIALIZED = classFile();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, sleep -> BlocksWhenInitialized.with(sleep, Initializer::initializeAnother));
    }

    private static void initializeAnother() {
        try {
            MethodHandles.lookup().defineHiddenClass(BLOCKS_WHEN_INITIALIZED, true);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static byte[] classFile() {
        try (InputStream in = Initializer.class.getResourceAsStream("BlocksWhenInitialized$Hidden.class")) {
            return in.readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
