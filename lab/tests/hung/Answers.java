import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;

/** A service that answers each line, and takes on demand all that its limits leave. */
public class Answers {
    private static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        // Loaded before a limit is reached.
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        KEPT.add(new FileInputStream("/dev/null"));
        System.out.println("answer: up");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "fill" -> fill(Long.parseLong(words[1]));
                case "classes" -> classes(Long.parseLong(words[1]));
                case "files" -> files();
                case "litter" -> litter(Long.parseLong(words[1]));
                case "collect" -> System.gc();
                case "direct" -> KEPT.add(ByteBuffer.allocateDirect(Integer.parseInt(words[1])));
                case "serve" -> serve();
                case "deep" -> deep(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
                default -> { }
            }
            System.out.println("answer: " + line);
        }
    }

    /** Fills the heap but for this many bytes. */
    private static void fill(long leftBytes) {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        while (runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory() > leftBytes) {
            KEPT.add(new byte[64 << 10]);
        }
        System.gc();
    }

    /** Defines classes until only this many bytes of the space for classes are left. */
    private static void classes(long leftBytes) throws Exception {
        byte[] own = Answers.class.getResourceAsStream("/Answers.class").readAllBytes();
        MemoryPoolMXBean space = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(it -> it.getName().equals("Compressed Class Space")).findFirst().orElseThrow();
        while (space.getUsage().getMax() - space.getUsage().getCommitted() > leftBytes) {
            KEPT.add(MethodHandles.lookup().defineHiddenClass(own, false, MethodHandles.Lookup.ClassOption.STRONG));
        }
    }

    /** Responds on the thread that accepts, and prints its port. */
    private static void serve() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 64);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        System.out.println("port: " + server.getAddress().getPort());
    }

    /** Starts threads that stand still, each below this many calls. */
    private static void deep(String kind, int threads, int calls) throws InterruptedException {
        ThreadFactory factory = kind.equals("virtual") ? Thread.ofVirtual().factory() : Thread.ofPlatform().daemon().factory();
        CountDownLatch standing = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            factory.newThread(() -> stand(calls, standing)).start();
        }
        standing.await();
    }

    private static void stand(int calls, CountDownLatch standing) {
        if (calls > 0) {
            stand(calls - 1, standing);
            return;
        }
        standing.countDown();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Allocates this many bytes, and keeps none of them. */
    private static void litter(long bytes) {
        for (long left = bytes; left > 0; left -= 64 << 10) {
            KEPT.set(0, new byte[64 << 10]);
        }
    }

    private static void files() {
        try {
            while (true) {
                KEPT.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException noneLeft) {
            // All file descriptors are in use.
        }
    }
}
