import com.zaxxer.hikari.util.ConcurrentBag;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Requests that take a connection of a pool of four. "leaked": each of the first four takes one and ends. "elsewhere": four other threads
 * have them, in other code. "busy": each has one for 20 ms. Prints "up" when the requests wait.
 */
class Borrowers {
    static final ConcurrentBag<String> POOL = new ConcurrentBag<>(List.of("a", "b", "c", "d"));
    static final List<Object> OPEN = Collections.synchronizedList(new ArrayList<>());
    static volatile boolean forever = true;

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "leaked" -> {
                for (int i = 0; i < 4; i++) {
                    Thread.ofVirtual().start(() -> run(Borrowers::lose)).join();
                }
                request(12, Borrowers::find);
                waitFor(12);
            }
            case "elsewhere" -> {
                ServerSocket silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
                OPEN.add(silent);
                for (int i = 0; i < 4; i++) {
                    Thread.ofPlatform().name("report-" + i).daemon().start(() -> report(silent));
                }
                Thread.sleep(500);
                request(12, Borrowers::find);
                waitFor(12);
            }
            case "busy" -> {
                request(40, () -> {
                    while (forever) {
                        find();
                    }
                });
                waitFor(30);
            }
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("up");
        while (System.in.read() >= 0) {
            System.out.println(Hung.openPackages());
        }
        Thread.sleep(600_000);
    }

    static void report(ServerSocket to) {
        try {
            OPEN.add(POOL.borrow());
            write(to);
        } catch (Exception ended) {
            throw new IllegalStateException(ended);
        }
    }

    static void write(ServerSocket to) throws Exception {
        try (Socket socket = new Socket(to.getInetAddress(), to.getLocalPort())) {
            socket.getInputStream().read();
        }
    }

    static void lose() throws Exception {
        POOL.borrow();
    }

    static void find() throws Exception {
        String connection = POOL.borrow();
        try {
            Thread.sleep(20);
        } finally {
            POOL.requite(connection);
        }
    }

    static void request(int threads, Hung.Task task) {
        for (int i = 0; i < threads; i++) {
            Thread.ofVirtual().name("request-" + i).start(() -> run(task));
        }
    }

    static void run(Hung.Task task) {
        try {
            task.run();
        } catch (Exception ended) {
            throw new IllegalStateException(ended);
        }
    }

    static void waitFor(int waiting) throws InterruptedException {
        while (POOL.getWaitingThreadCount() < waiting) {
            Thread.sleep(20);
        }
        Thread.sleep(200);
    }
}
