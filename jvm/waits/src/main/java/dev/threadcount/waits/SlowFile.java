package dev.threadcount.waits;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.RandomAccessFile;

/** Reads one byte of the file that the system property {@code slow.file} names. From a pipe it comes when somebody writes one. */
public final class SlowFile extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private transient RandomAccessFile file;

    @Override
    public void init() throws ServletException {
        try {
            file = new RandomAccessFile(System.getProperty("slow.file"), "rw");
        } catch (IOException wrong) {
            throw new ServletException(wrong);
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().print(read());
    }

    private int read() throws IOException {
        return file.read();
    }
}
