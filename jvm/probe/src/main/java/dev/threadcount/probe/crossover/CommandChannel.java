package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.io.Closeable;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The connection to the tool: lines in both directions. It never waits for a tool that does not read. */
final class CommandChannel implements Closeable {
    private static final int LONGEST_COMMAND_BYTES = 1_024;

    private final SocketChannel channel;
    private final Selector selector;
    private final ByteBuffer received = ByteBuffer.allocate(LONGEST_COMMAND_BYTES);

    private CommandChannel(SocketChannel channel, Selector selector) {
        this.channel = channel;
        this.selector = selector;
    }

    /** Connects to a listening Unix socket. */
    static CommandChannel connect(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            channel.configureBlocking(false);
            Selector selector = Selector.open();
            channel.register(selector, SelectionKey.OP_READ);
            return new CommandChannel(channel, selector);
        } catch (IOException | RuntimeException refused) {
            channel.close();
            throw refused;
        }
    }

    /** Waits for the next command. Returns null if either side has closed the connection. */
    String read() throws IOException {
        try {
            while (true) {
                String line = takeLine();
                if (line != null) {
                    return line;
                }
                if (!received.hasRemaining()) {
                    throw new IOException("a command is longer than " + LONGEST_COMMAND_BYTES + " bytes");
                }
                selector.select();
                selector.selectedKeys().clear();
                if (channel.read(received) < 0) {
                    return null;
                }
            }
        } catch (ClosedSelectorException | ClosedChannelException closed) {
            return null;
        }
    }

    private String takeLine() {
        for (int at = 0; at < received.position(); at++) {
            if (received.get(at) == '\n') {
                String line = new String(received.array(), 0, at, StandardCharsets.UTF_8);
                received.flip().position(at + 1);
                received.compact();
                return line.strip();
            }
        }
        return null;
    }

    /** @throws IOException when the tool is gone, or does not read */
    synchronized void write(JsonLine line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(line.end().getBytes(StandardCharsets.UTF_8));
        channel.write(bytes);
        if (bytes.hasRemaining()) {
            throw new IOException("the tool does not read the replies");
        }
    }

    /** Ends {@link #read} on another thread. */
    @Override
    public void close() throws IOException {
        try {
            channel.close();
        } finally {
            selector.close();
        }
    }
}
