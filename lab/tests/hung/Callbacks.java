import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Clients of a neighbour. Their own thread calls the application back with a response, and the application waits there for the next one. */
final class Callbacks {
    private Callbacks() {}

    static Service.Work work(String mode) throws IOException {
        return switch (mode) {
            case "callback-loop" -> new CalledBack(new NumberedClient());
            case "selector-loop" -> new CalledBack(new SelectorClient());
            case "callback-of-other-loop" -> new CalledBack(new NumberedClient(), new NumberedClient());
            default -> Backlogs.work(mode);
        };
    }

    interface Client {
        void send(String text, CompletableFuture<String> result) throws IOException;
    }

    /** Waits for the second response on the thread on which the first one arrives. */
    static final class CalledBack implements Service.Work {
        private final Client first;
        private final Client second;

        CalledBack(Client first, Client second) {
            this.first = first;
            this.second = second;
        }

        CalledBack(Client only) {
            this(only, only);
        }

        @Override
        public void run(int number) throws Exception {
            CompletableFuture<String> user = new CompletableFuture<>();
            CompletableFuture<String> orders = user.thenApply(this::orders);
            first.send("user " + number, user);
            orders.join();
        }

        private String orders(String user) {
            CompletableFuture<String> orders = new CompletableFuture<>();
            try {
                second.send("orders of " + user, orders);
            } catch (IOException failed) {
                throw new java.io.UncheckedIOException(failed);
            }
            return orders.join();
        }
    }

    /** Sends back each line. */
    static int neighbour() throws IOException {
        ServerSocket server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        Service.daemon("neighbour", () -> echo(server)).start();
        return server.getLocalPort();
    }

    private static void echo(ServerSocket server) {
        try (Socket socket = server.accept()) {
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (IOException ended) {
            throw new java.io.UncheckedIOException(ended);
        }
    }

    /** A client with a thread that reads the responses, each of which has the number of its request. */
    static final class NumberedClient implements Client, Runnable {
        private final Map<Integer, CompletableFuture<String>> pending = new ConcurrentHashMap<>();
        private final AtomicInteger numbers = new AtomicInteger();
        private final Socket socket = new Socket(InetAddress.getLoopbackAddress(), neighbour());

        NumberedClient() throws IOException {
            Service.daemon("client-loop", this).start();
        }

        @Override
        public void send(String text, CompletableFuture<String> result) throws IOException {
            int number = numbers.incrementAndGet();
            pending.put(number, result);
            synchronized (socket) {
                socket.getOutputStream().write((number + " " + text + "\n").getBytes());
            }
        }

        @Override
        public void run() {
            try {
                BufferedReader responses = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                for (String line = responses.readLine(); line != null; line = responses.readLine()) {
                    String[] parts = line.split(" ", 2);
                    pending.remove(Integer.valueOf(parts[0])).complete(parts[1]);
                }
            } catch (IOException ended) {
                throw new java.io.UncheckedIOException(ended);
            }
        }
    }

    /** A client whose selector loop reads the responses in the order of the requests. Only the selector's key refers to the connection. */
    static final class SelectorClient implements Client, Runnable {
        private final Selector selector = Selector.open();

        SelectorClient() throws IOException {
            SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), neighbour()));
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, new Connection(channel));
            Service.daemon("selector-loop", this).start();
        }

        @Override
        public void send(String text, CompletableFuture<String> result) throws IOException {
            ((Connection) selector.keys().iterator().next().attachment()).send(text, result);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    selector.select();
                    for (SelectionKey key : selector.selectedKeys()) {
                        ((Connection) key.attachment()).read();
                    }
                    selector.selectedKeys().clear();
                }
            } catch (IOException ended) {
                throw new java.io.UncheckedIOException(ended);
            }
        }
    }

    /** Results that have not come yet, in the order of the requests. */
    static final class Connection {
        private final Queue<CompletableFuture<String>> sent = new ArrayDeque<>();
        private final ByteBuffer received = ByteBuffer.allocate(4_096);
        private final StringBuilder line = new StringBuilder();
        private final SocketChannel channel;

        Connection(SocketChannel channel) {
            this.channel = channel;
        }

        synchronized void send(String text, CompletableFuture<String> result) throws IOException {
            sent.add(result);
            channel.write(ByteBuffer.wrap((text + "\n").getBytes()));
        }

        private synchronized CompletableFuture<String> next() {
            return sent.remove();
        }

        void read() throws IOException {
            channel.read(received.clear());
            for (received.flip(); received.hasRemaining(); ) {
                char next = (char) received.get();
                if (next != '\n') {
                    line.append(next);
                    continue;
                }
                String response = line.toString();
                line.setLength(0);
                next().complete(response);
            }
        }
    }
}
