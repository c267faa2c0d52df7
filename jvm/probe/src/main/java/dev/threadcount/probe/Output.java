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
 * Where lines go. Any thread may write, and none ever waits for the reader: lines for which there is no room are dropped and
 * counted, because a reader that is stopped (Ctrl-Z) would stop the reading of JFR's events too, and its files would grow. A
 * reader that went away ends the writing, never the server.
 */
final class Output implements Closeable {
    /** Some ten seconds of a busy server. */
    private static final int ROOM_BYTES = 1 << 20;
    /** The JDK copies what is written into memory outside of the heap, and each thread that writes keeps as much as its largest write. */
    private static final int SLICE_BYTES = 64 << 10;

    private final WritableByteChannel channel;
    /** What has not been written, from 0 to its position. */
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

    /** Before the first line that has room again, so that the gap is where it was. */
    private void sayDropped() {
        byte[] line = JsonLine.of("dropped", System.nanoTime()).put("lines", dropped).end()
                .getBytes(StandardCharsets.UTF_8);
        // With room for more: else each line that is read would let in one such line.
        if (waiting.remaining() >= waiting.capacity() / 2) {
            waiting.put(line);
            dropped = 0;
        }
    }

    /** Writes what the reader takes now; false when it has gone. */
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
