import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** JVMs that hang in a known way, and look-alikes. Prints "up" when it has come that far. */
class Hung {
    static final AtomicLong DONE = new AtomicLong();
    static final List<byte[]> LIVE = new ArrayList<>();
    static volatile boolean forever = true;

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "pinned" -> pinned();
            case "locks" -> crossed(true, new ReentrantLock(), new ReentrantLock());
            case "platform-locks" -> crossed(false, new ReentrantLock(), new ReentrantLock());
            case "monitors" -> crossedMonitors();
            case "filtered-monitors" -> filteredMonitors();
            case "gc-locks" -> fullAndCrossed();
            case "permits" -> permits();
            case "spin" -> spin();
            case "neighbour" -> neighbour(600_000, Hung::ask);
            case "slow-neighbour" -> neighbour(1_500, Hung::ask);
            case "http-neighbour" -> neighbour(600_000, Hung::get);
            case "lost-lock" -> lostLock(task -> start(true, "job", task).join());
            case "lost-lock-of-worker" -> lostLock(Hung::onWorker);
            case "gc" -> thrash();
            case "idle" -> idle();
            case "idle-server" -> {
                useChannel();
                idle();
            }
            case "signals" -> signals();
            case "stages" -> stages();
            case "clients" -> clients();
            case "readers" -> readers();
            case "long-queue" -> longQueue();
            case "slow" -> slow();
            case "busy-lock" -> busyLock();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("up");
        // For each byte that is read, prints a line with the packages that are open to us.
        while (System.in.read() >= 0) {
            System.out.println(openPackages());
        }
        Thread.sleep(600_000);
    }

    static String openPackages() {
        StringBuilder open = new StringBuilder("open:");
        for (Module module : ModuleLayer.boot().modules()) {
            module.getPackages().stream().filter(name -> module.isOpen(name, Hung.class.getModule())).sorted()
                    .forEach(name -> open.append(' ').append(name));
        }
        return open.toString();
    }

    /**
     * qos-ch/logback#786: the lock was given to a virtual thread that is not mounted, while every carrier is held by a thread that waits
     * for the same lock inside a monitor.
     */
    static void pinned() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        Thread first = Thread.ofVirtual().name("first").start(() -> append(lock));
        waitFor(() -> lock.hasQueuedThread(first));
        int carriers = Runtime.getRuntime().availableProcessors();
        for (int i = 0; i < carriers + 3; i++) {
            Object own = new Object();
            Thread.ofVirtual().name("pinned-" + i).start(() -> {
                synchronized (own) {
                    append(lock);
                }
            });
        }
        waitFor(() -> lock.getQueueLength() >= carriers + 1);
        lock.unlock();
    }

    static void append(Lock lock) {
        lock.lock();
        try {
            DONE.incrementAndGet();
        } finally {
            lock.unlock();
        }
    }

    static void crossed(boolean virtual, Lock a, Lock b) throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        start(virtual, "debit", () -> inOrder(a, b, both));
        start(virtual, "credit", () -> inOrder(b, a, both));
        both.await();
        Thread.sleep(200);
    }

    static void inOrder(Lock outer, Lock inner, CountDownLatch both) {
        outer.lock();
        both.countDown();
        await(both);
        inner.lock();
    }

    static void crossedMonitors() throws Exception {
        Object a = new Object();
        Object b = new Object();
        CountDownLatch both = new CountDownLatch(2);
        start(true, "debit", () -> inOrder(a, b, both));
        start(true, "credit", () -> inOrder(b, a, both));
        both.await();
        Thread.sleep(200);
    }

    /** Requests that came through one filter: two wait for each other, and a third for something else. */
    static void filteredMonitors() throws Exception {
        Object a = new Object();
        Object b = new Object();
        CountDownLatch both = new CountDownLatch(2);
        start(true, "reader", () -> filter(() -> await(new CountDownLatch(1))));
        Thread.sleep(200);
        start(true, "debit", () -> filter(() -> inOrder(a, b, both)));
        start(true, "credit", () -> filter(() -> inOrder(b, a, both)));
        both.await();
        Thread.sleep(200);
    }

    static void filter(Task request) throws Exception {
        request.run();
        DONE.incrementAndGet();
    }

    /** Platform threads that wait for each other in a heap that is nearly full of live objects. */
    static void fullAndCrossed() throws Exception {
        try {
            while (forever) {
                LIVE.add(new byte[10_000]);
            }
        } catch (OutOfMemoryError full) {
            LIVE.subList(LIVE.size() - 80, LIVE.size()).clear();
        }
        System.gc();
        crossed(false, new ReentrantLock(), new ReentrantLock());
    }

    static void inOrder(Object outer, Object inner, CountDownLatch both) {
        synchronized (outer) {
            both.countDown();
            await(both);
            synchronized (inner) {
                DONE.incrementAndGet();
            }
        }
    }

    /** A thread that takes a permit and then fails does not give it back. */
    static void permits() throws Exception {
        Semaphore permits = new Semaphore(4);
        for (int i = 0; i < 12; i++) {
            int number = i;
            start(true, "request-" + i, () -> handle(permits, number));
        }
        waitFor(() -> permits.getQueueLength() == 8);
    }

    static void handle(Semaphore permits, int number) {
        permits.acquireUninterruptibly();
        if (forever) {
            return;
        }
        permits.release();
    }

    /** A thread that takes the lock and then fails does not give it back. */
    static void lostLock(Runner runner) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        runner.run(() -> reserve(lock));
        for (int i = 0; i < 3; i++) {
            start(i % 2 == 0, "request-" + i, () -> reserve(lock));
        }
        waitFor(() -> lock.getQueueLength() == 3);
    }

    static void reserve(ReentrantLock lock) {
        lock.lock();
        if (forever) {
            return;
        }
        lock.unlock();
    }

    static void onWorker(Task task) throws Exception {
        ThreadFactory named = work -> Thread.ofPlatform().name("worker").daemon().unstarted(work);
        Executors.newFixedThreadPool(1, named).submit(() -> {
            task.run();
            return null;
        }).get();
    }

    static void spin() throws Exception {
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            start(true, "spinner-" + i, Hung::untilDone);
        }
        Thread.sleep(300);
        for (int i = 0; i < 20; i++) {
            start(true, "request-" + i, DONE::incrementAndGet);
        }
    }

    static void untilDone() {
        while (forever) {
            Thread.onSpinWait();
        }
    }

    /** At most four threads may call a neighbour at once, which takes its time. */
    static void neighbour(int millis, Call how) throws Exception {
        ServerSocket server = neighbourThatTakes(millis);
        Semaphore permits = new Semaphore(4);
        for (int i = 0; i < 40; i++) {
            start(true, "request-" + i, () -> {
                while (forever) {
                    call(permits, server, how);
                }
            });
        }
        waitFor(() -> permits.getQueueLength() == 36);
    }

    static ServerSocket neighbourThatTakes(int millis) throws Exception {
        ServerSocket server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        start(false, "neighbour", () -> {
            while (true) {
                Socket one = server.accept();
                start(false, "neighbour-call", () -> {
                    Thread.sleep(millis);
                    one.getOutputStream().write(1);
                    one.close();
                });
            }
        });
        return server;
    }

    static void call(Semaphore permits, ServerSocket server, Call how) throws Exception {
        permits.acquire();
        try {
            how.of(server);
        } finally {
            permits.release();
        }
    }

    /** Loaded when it is first used, because the client starts threads at once. */
    static final class Http {
        static final HttpClient CLIENT = HttpClient.newHttpClient();
    }

    static void get(ServerSocket server) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + server.getLocalPort());
        Http.CLIENT.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
    }

    static void ask(ServerSocket server) throws Exception {
        try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
            InputStream in = socket.getInputStream();
            in.read();
        }
    }

    /** Nearly all of the heap is live. */
    static void thrash() throws Exception {
        List<byte[]> live = new ArrayList<>();
        Runtime runtime = Runtime.getRuntime();
        while (runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory() > runtime.maxMemory() / 10) {
            live.add(new byte[10_000]);
        }
        start(false, "allocator", () -> {
            while (forever) {
                for (int i = 0; i < 50; i++) {
                    live.set(ThreadLocalRandom.current().nextInt(live.size()), new byte[10_000]);
                }
            }
        });
    }

    /** Workers that wait for a signal, which comes when there is work. */
    static void signals() throws Exception {
        Semaphore work = new Semaphore(0);
        for (int i = 0; i < 6; i++) {
            start(true, "worker-" + i, () -> {
                while (forever) {
                    nextOf(work);
                }
            });
        }
        waitFor(() -> work.getQueueLength() == 6);
    }

    static void nextOf(Semaphore work) throws Exception {
        work.acquire();
        DONE.incrementAndGet();
    }

    /** Each stage waits for its own signal and gives the next one's; none of them has begun. */
    static final class Stage {
        private final Semaphore signal = new Semaphore(0);
        private Stage next;

        void pass() throws InterruptedException {
            signal.acquire();
            DONE.incrementAndGet();
            next.signal.release();
        }
    }

    static void stages() throws Exception {
        Stage first = new Stage();
        first.next = new Stage();
        first.next.next = first;
        for (int i = 0; i < 8; i++) {
            Stage own = i % 2 == 0 ? first : first.next;
            start(true, "stage-" + i, () -> {
                while (forever) {
                    own.pass();
                }
            });
        }
        waitFor(() -> first.signal.getQueueLength() == 4 && first.next.signal.getQueueLength() == 4);
    }

    /** Connections of clients that send nothing for now; each has a thread that waits for the next request. */
    static void clients() throws Exception {
        server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        for (int i = 0; i < 24; i++) {
            CLIENTS.add(new Socket(server.getInetAddress(), server.getLocalPort()));
            Socket accepted = server.accept();
            start(i % 2 == 0, "connection-" + i, () -> serve(accepted));
        }
        Thread.sleep(500);
    }

    static final List<Socket> CLIENTS = new ArrayList<>();
    /** Kept, because a collection would close a socket that nothing refers to. */
    static ServerSocket server;

    static void serve(Socket client) throws Exception {
        while (client.getInputStream().read() >= 0) {
            DONE.incrementAndGet();
        }
    }

    /** Threads that ask a neighbour again and again, and are nearly always at the same line. */
    static void readers() throws Exception {
        ServerSocket server = neighbourThatTakes(60);
        for (int i = 0; i < 12; i++) {
            start(false, "reader-" + i, () -> {
                while (forever) {
                    ask(server);
                }
            });
        }
        Thread.sleep(500);
    }

    /** A limit that many threads wait for, longer than a diagnosis takes, although each is through in 20 ms. */
    static void longQueue() throws Exception {
        Semaphore permits = new Semaphore(2, true);
        for (int i = 0; i < 600; i++) {
            start(true, "request-" + i, () -> {
                while (forever) {
                    permits.acquire();
                    try {
                        Thread.sleep(20);
                    } finally {
                        permits.release();
                    }
                }
            });
        }
        waitFor(() -> permits.getQueueLength() > 500);
    }

    /** Closes a channel. The first one leaves half of a pair of sockets, which the JDK keeps for all others. */
    static void useChannel() throws Exception {
        java.nio.channels.SocketChannel.open(java.net.StandardProtocolFamily.UNIX).close();
    }

    static void idle() {
        for (int i = 0; i < 20; i++) {
            var queue = new java.util.concurrent.LinkedBlockingQueue<Runnable>();
            start(i % 2 == 0, "worker-" + i, () -> {
                while (forever) {
                    queue.take().run();
                }
            });
        }
    }

    /** All cores are in use, and each piece of work ends. */
    static void slow() {
        for (int i = 0; i < 4; i++) {
            start(true, "generator-" + i, () -> {
                while (forever) {
                    Thread request = start(true, "request", Hung::computes);
                    request.join();
                }
            });
        }
    }

    static void computes() {
        long until = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < until) {
            DONE.incrementAndGet();
        }
    }

    /** Many threads want one lock, and each gets it in its turn. */
    static void busyLock() {
        ReentrantLock lock = new ReentrantLock(true);
        for (int i = 0; i < 10; i++) {
            start(true, "request-" + i, () -> {
                while (forever) {
                    lock.lock();
                    try {
                        Thread.sleep(30);
                    } finally {
                        lock.unlock();
                    }
                }
            });
        }
    }

    interface Call {
        void of(ServerSocket server) throws Exception;
    }

    interface Runner {
        void run(Task task) throws Exception;
    }

    interface Task {
        void run() throws Exception;
    }

    static Thread start(boolean virtual, String name, Task task) {
        Runnable runnable = () -> {
            try {
                task.run();
            } catch (Exception ended) {
                throw new IllegalStateException(ended);
            }
        };
        return virtual ? Thread.ofVirtual().name(name).start(runnable) : Thread.ofPlatform().daemon().name(name).start(runnable);
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    static void waitFor(java.util.function.BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(20);
        }
        Thread.sleep(200);
    }
}
