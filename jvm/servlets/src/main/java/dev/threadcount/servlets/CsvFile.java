package dev.threadcount.servlets;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/** A file to which many threads append lines, each written through before its request goes on. */
final class CsvFile implements Closeable {
    private final Writer out;
    /** Not a monitor: before Java 24 a virtual thread that waits for one keeps its carrier. */
    private final ReentrantLock lock = new ReentrantLock();

    CsvFile(Path path) {
        try {
            out = Files.newBufferedWriter(path);
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    /** In {@code logs} of Tomcat's folder, which goes with the server. */
    static CsvFile inLogsOfThisServer(String name) {
        return new CsvFile(Path.of(System.getProperty("catalina.base"), "logs", name + ".csv"));
    }

    void append(String line) throws IOException {
        lock.lock();
        try {
            out.write(line);
            out.write('\n');
            out.flush();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        try {
            out.close();
        } catch (IOException full) {
            throw new UncheckedIOException(full);
        }
    }
}
