package dev.threadcount.probe;

import java.io.Closeable;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.StandardOpenOption;

/**
 * Writes lines to a file or socket. Any thread may write, and none ever waits for the reader. If there is no room,
 * lines are dropped and counted: otherwise a stopped reader (Ctrl-Z) would also stop the reading of JFR's events, and
 * JFR's files would grow. A reader that is gone ends the writing, never the server.
 */
final class Output implements Closeable {
    /** The room for lines that wait, about ten seconds of a busy server. */
    private static final int ROOM_BYTES = 1 << 20;
    /**
     * The largest single write. The JDK copies each write into memory outside of the heap, and each thread keeps as
     * much as its largest write.
     */
    private static final int SLICE_BYTES = 64 << 10;

    private final WritableByteChannel channel;
    /** The bytes that have not been written yet, from 0 to its position. */
    private final ByteBuffer waiting;
    private long dropped;
    private boolean broken;

    Output(WritableByteChannel channel, int roomBytes) {
        this.channel = channel;
        waiting = ByteBuffer.allocate(roomBytes);
    }

    /**
     * Opens the file, or connects to the socket.
     *
     * @throws IOException when that is not possible
     */
    static Output open(Options.Out out) throws IOException {
        if (!out.socket()) {
            return new Output(FileChannel.open(
                    out.path(), StandardOpenOption.CREATE, StandardOpenOption.APPEND), ROOM_BYTES);
        }
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(out.path()));
            channel.configureBlocking(false);
            return new Output(channel, ROOM_BYTES);
        } catch (IOException | RuntimeException refused) {
            channel.close();
            throw refused;
        }
    }

    synchronized void write(JsonLine line) {
        if (broken) {
            return;
        }
        byte[] bytes = line.end().getBytes(StandardCharsets.UTF_8);
        if (bytes.length > waiting.remaining()) {
            drain();
        }
        if (dropped > 0) {
            sayDropped();
        }
        if (dropped > 0 || bytes.length > waiting.remaining()) {
            dropped++;
        } else {
            waiting.put(bytes);
        }
    }

    /** Reports dropped lines before the first line that has room again, so that the report is in the place of the gap. */
    private void sayDropped() {
        byte[] line = JsonLine.of("dropped", System.nanoTime()).put("lines", dropped).end()
                .getBytes(StandardCharsets.UTF_8);
        // It needs room for more lines. Otherwise each line that the reader takes would let in one such report.
        if (waiting.remaining() >= waiting.capacity() / 2) {
            waiting.put(line);
            dropped = 0;
        }
    }

    /** Writes as much as the reader takes now. Returns false if the reader is gone. */
    synchronized boolean flush() {
        drain();
        return !broken;
    }

    private void drain() {
        if (broken) {
            return;
        }
        waiting.flip();
        int end = waiting.limit();
        try {
            while (waiting.position() < end) {
                waiting.limit(Math.min(end, waiting.position() + SLICE_BYTES));
                if (channel.write(waiting) <= 0) {
                    break;
                }
            }
        } catch (IOException readerGone) {
            broken = true;
        } finally {
            waiting.limit(end).compact();
        }
    }

    @Override
    public synchronized void close() {
        drain();
        try {
            channel.close();
        } catch (IOException readerGone) {
            broken = true;
        }
    }
}
