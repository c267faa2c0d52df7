package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PipedReader;
import java.io.PipedWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class GiversTest {
    /** Uses one end of a pipe. */
    private interface End {
        void use() throws IOException;
    }

    /** The field for the other side of a pipe in which a thread waits. */
    private static String otherSide(End end) throws InterruptedException {
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                end.use();
            } catch (IOException closed) {
                Thread.currentThread().interrupt();
            }
        });
        while (thread.isAlive() && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        String side = Givers.otherSide(thread.getStackTrace());
        thread.interrupt();
        thread.join();
        return side;
    }

    @Test
    @Timeout(30)
    void aReaderOfAPipeWaitsForItsWriterAndAWriterForItsReader() throws Exception {
        assertEquals("writeSide", otherSide(new PipedInputStream(new PipedOutputStream())::read));
        assertEquals("writeSide", otherSide(new PipedReader(new PipedWriter())::read));
        PipedOutputStream bytes = new PipedOutputStream(new PipedInputStream(1));
        assertEquals("readSide", otherSide(() -> bytes.write(new byte[9])));
        PipedWriter characters = new PipedWriter(new PipedReader(1));
        assertEquals("readSide", otherSide(() -> characters.write(new char[9])));
        assertNull(Givers.otherSide(Thread.currentThread().getStackTrace()), "no pipe");
    }
}
