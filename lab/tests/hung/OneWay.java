import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** A server that switches each connection to another protocol, as for a WebSocket, and reads what comes then without a response. */
final class OneWay implements Runnable {
    private final Selector selector;
    private final ServerSocketChannel server;

    OneWay() throws IOException {
        selector = Selector.open();
        server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
    }

    int port() throws IOException {
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    @Override
    public void run() {
        try {
            while (true) {
                selector.select(this::handle);
            }
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private void handle(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                SocketChannel accepted = server.accept();
                accepted.configureBlocking(false);
                accepted.register(selector, SelectionKey.OP_READ);
                return;
            }
            SocketChannel channel = (SocketChannel) key.channel();
            if (channel.read(ByteBuffer.allocate(4_096)) < 0) {
                channel.close();
            } else if (key.attachment() == null) {
                key.attach("switched");
                channel.write(ByteBuffer.wrap("HTTP/1.1 101 Switching Protocols\r\n\r\n".getBytes()));
            }
        } catch (IOException gone) {
            key.cancel();
        }
    }
}
