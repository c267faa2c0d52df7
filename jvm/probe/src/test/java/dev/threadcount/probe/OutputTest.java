package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutputTest {
    /** A reader that may be stopped, as by Ctrl-Z, or have gone. */
    private static final class Reader implements WritableByteChannel {
        private final ByteArrayOutputStream read = new ByteArrayOutputStream();
        private boolean stopped;
        private boolean gone;
        private boolean outOfMemory;
        private int mostBytes;

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            if (gone) {
                throw new IOException("Broken pipe");
            }
            if (outOfMemory) {
                throw new OutOfMemoryError("Cannot reserve direct buffer memory");
            }
            int length = stopped ? 0 : bytes.remaining();
            mostBytes = Math.max(mostBytes, length);
            read.write(bytes.array(), bytes.position(), length);
            bytes.position(bytes.position() + length);
            return length;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}

        List<String> lines() {
            return read.toString(StandardCharsets.UTF_8).lines().toList();
        }
    }

    private static JsonLine line(int number) {
        return JsonLine.of("line", number);
    }

    @Test
    void stoppedReaderStopsNobodyAndLearnsHowManyLinesItMissed() {
        Reader reader = new Reader();
        Output output = new Output(reader, 1_000);
        reader.stopped = true;
        assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
            for (int i = 0; i < 100_000; i++) {
                output.write(line(i));
                assertTrue(output.flush());
            }
        });
        reader.stopped = false;
        assertTrue(output.flush());
        int kept = reader.lines().size();
        output.write(line(100_000));
        assertTrue(output.flush());
        List<String> lines = reader.lines();
        assertEquals(kept + 2, lines.size());
        assertTrue(lines.get(kept).startsWith("{\"type\":\"dropped\""), lines.get(kept));
        assertTrue(lines.get(kept).endsWith("\"lines\":" + (100_000 - kept) + "}"), lines.get(kept));
        assertTrue(lines.get(kept + 1).contains("100000"));
    }

    @Test
    void readerThatWentAwayEndsTheWriting() {
        Reader reader = new Reader();
        Output output = new Output(reader, 1_000);
        output.write(line(1));
        reader.gone = true;
        assertFalse(output.flush());
        output.write(line(2));
        output.close();
        assertEquals(List.of(), reader.lines());
    }

    @Test
    void linesAreWrittenInSlicesSoThatNoThreadKeepsALargeBuffer() {
        Reader reader = new Reader();
        Output output = new Output(reader, 1 << 20);
        for (int i = 0; i < 20_000; i++) {
            output.write(line(i));
        }
        assertTrue(output.flush());
        assertEquals(20_000, reader.lines().size());
        assertEquals(64 << 10, reader.mostBytes);
    }

    @Test
    void lineStaysForTheNextAttemptWhereAWriteRunsOutOfMemory() {
        Reader reader = new Reader();
        Output output = new Output(reader, 1_000);
        output.write(line(1));
        reader.outOfMemory = true;
        assertThrows(OutOfMemoryError.class, output::flush);
        reader.outOfMemory = false;
        output.write(line(2));
        assertTrue(output.flush());
        assertEquals(2, reader.lines().size());
    }
}
