import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import javax.management.ObjectName;

/**
 * A JVM with something of everything that the probe reports: threads that wait for a monitor whose owner sleeps (and pins its carrier on
 * Java 21), garbage, and as many pools as the first argument says. With "locked" it is a server with ten clients whose requests wait for
 * one lock; with "asleep" they sleep. With "cached" each request makes the buffer of its thread, and with "allocated" a buffer of its own,
 * while as many threads compute as the third argument says. Prints "up", and then for each line that it reads a line with all packages of
 * the JDK that are open to it.
 */
public class Busy {
    public interface PoolMBean {
        int getActiveConnections();

        int getTotalConnections();

        int getThreadsAwaitingConnection();
    }

    public static final class Pool implements PoolMBean {
        @Override
        public int getActiveConnections() {
            return 1;
        }

        @Override
        public int getTotalConnections() {
            return 10;
        }

        @Override
        public int getThreadsAwaitingConnection() {
            return 0;
        }
    }

    static final Object MONITOR = new Object();
    static volatile Object garbage;

    public static void main(String[] arguments) throws Exception {
        int pools = Integer.parseInt(arguments[0]);
        for (int i = 0; i < pools; i++) {
            ObjectName name = new ObjectName("com.zaxxer.hikari:type=Pool (shop-" + i + ")");
            ManagementFactory.getPlatformMBeanServer().registerMBean(new Pool(), name);
        }
        String does = arguments.length > 1 ? arguments[1] : "nothing";
        if (Requests.KINDS.contains(does)) {
            Requests.begin(does);
            for (int i = 0; i < (arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0); i++) {
                Thread.ofPlatform().daemon().start(Busy::compute);
            }
        } else if (arguments.length > 1) {
            for (int i = 0; i < 6; i++) {
                Thread.ofVirtual().start(Busy::wait30ms);
            }
            Thread.ofPlatform().daemon().start(Busy::allocate);
        }
        System.out.println("up");
        while (System.in.read() >= 0) {
            System.out.println(openPackages());
        }
    }

    static void wait30ms() {
        while (true) {
            synchronized (MONITOR) {
                pause(30);
            }
        }
    }

    static void allocate() {
        while (true) {
            for (int i = 0; i < 100; i++) {
                garbage = new byte[10_000];
            }
            pause(5);
        }
    }

    static void compute() {
        while (true) {
            Thread.onSpinWait();
        }
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    /** A server on virtual threads, and its clients. */
    static final class Requests {
        static final List<String> KINDS = List.of("locked", "asleep", "cached", "allocated");
        private static final int CLIENTS = 10;
        private static final int BUFFER_BYTES = 250_000;
        private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[BUFFER_BYTES]);
        private static final ReentrantLock LOCK = new ReentrantLock();

        private Requests() {}

        static void begin(String kind) throws IOException {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CLIENTS);
            server.createContext("/", exchange -> answer(exchange, kind));
            server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            server.start();
            for (int i = 0; i < CLIENTS; i++) {
                Thread.ofPlatform().daemon().start(() -> ask(server.getAddress()));
            }
        }

        static void answer(HttpExchange exchange, String kind) throws IOException {
            switch (kind) {
                case "locked" -> save();
                case "cached" -> garbage = BUFFER.get();
                case "allocated" -> garbage = new byte[BUFFER_BYTES];
                default -> pause(30);
            }
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        }

        static void save() {
            LOCK.lock();
            try {
                pause(30);
            } finally {
                LOCK.unlock();
            }
        }

        static void ask(InetSocketAddress server) {
            byte[] request = "GET / HTTP/1.1\r\nHost: busy\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            while (true) {
                try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
                    socket.getOutputStream().write(request);
                    socket.getInputStream().readAllBytes();
                } catch (IOException refused) {
                    pause(30);
                }
            }
        }
    }

    static String openPackages() {
        StringBuilder open = new StringBuilder("open:");
        for (Module module : ModuleLayer.boot().modules()) {
            module.getPackages().stream().filter(name -> module.isOpen(name, Busy.class.getModule())).sorted()
                    .forEach(name -> open.append(' ').append(name));
        }
        return open.toString();
    }
}
