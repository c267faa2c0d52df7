package dev.threadcount.servlets;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/** A file to which many threads append lines. Each line is on the disk before its request continues. */
final class CsvFile implements Closeable {
    private final Writer out;
    /** No monitor, because before Java 24 a virtual thread that waits for one keeps its carrier. */
    private final ReentrantLock lock = new ReentrantLock();

    CsvFile(Path path) {
        try {
            out = Files.newBufferedWriter(path);
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    /** A file in the folder {@code logs} of Tomcat, which is removed with the server. */
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
