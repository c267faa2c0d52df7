package dev.threadcount.probe;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;

/** Where lines go. Any thread may write; a reader that went away ends the writing, never the server. */
final class Output implements Closeable {
    private final OutputStream stream;
    private boolean broken;

    private Output(OutputStream stream) {
        this.stream = stream;
    }

    /**
     * Opens the file, or connects to the socket.
     *
     * @throws IOException when that is not possible
     */
    static Output open(Options.Out out) throws IOException {
        if (!out.socket()) {
            return new Output(new BufferedOutputStream(Files.newOutputStream(
                    out.path(), StandardOpenOption.CREATE, StandardOpenOption.APPEND)));
        }
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(out.path()));
        return new Output(new BufferedOutputStream(Channels.newOutputStream(channel)));
    }

    synchronized void write(JsonLine line) {
        if (broken) {
            return;
        }
        try {
            stream.write(line.end().getBytes(StandardCharsets.UTF_8));
        } catch (IOException readerGone) {
            broken = true;
        }
    }

    /** Flushes the buffer; false when the reader has gone. */
    synchronized boolean flush() {
        try {
            stream.flush();
        } catch (IOException readerGone) {
            broken = true;
        }
        return !broken;
    }

    @Override
    public synchronized void close() {
        try {
            stream.close();
        } catch (IOException readerGone) {
            broken = true;
        }
    }
}
