import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Exchanger;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** A server whose requests hang in the way that the first argument names, on threads of the kind that the second names. Prints its port. */
class Service {
    interface Work {
        void run(int number) throws Exception;
    }

    static final AtomicInteger REQUESTS = new AtomicInteger();
    static final AtomicLong DONE = new AtomicLong();
    static final ScheduledExecutorService LATER = Executors.newSingleThreadScheduledExecutor();
    static final Map<Integer, HttpExchange> FORGOTTEN = new ConcurrentHashMap<>();
    static final Set<Integer> EXPIRED = ConcurrentHashMap.newKeySet();
    static volatile boolean forever = true;

    public static void main(String[] arguments) throws Exception {
        ExecutorService threads = arguments[1].equals("virtual") ? Executors.newVirtualThreadPerTaskExecutor()
                : Executors.newFixedThreadPool(arguments[0].equals("slow-client") ? 4 : 100);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_024);
        server.setExecutor(threads);
        server.createContext("/", handler(arguments[0]));
        server.start();
        System.out.println(server.getAddress().getPort());
        Thread.sleep(600_000);
    }

    static HttpHandler handler(String mode) throws Exception {
        return switch (mode) {
            case "answered-later" -> exchange -> LATER.schedule(() -> answer(exchange, 2), 60, TimeUnit.SECONDS);
            case "forgotten" -> exchange -> forget(exchange, REQUESTS.incrementAndGet());
            default -> after(work(mode), mode.equals("slow-client") ? 50_000_000 : 2);
        };
    }

    /** The response is sent when the thread has done its work. */
    static HttpHandler after(Work work, int bytes) {
        return exchange -> {
            try {
                work.run(REQUESTS.incrementAndGet());
                answer(exchange, bytes);
            } catch (InterruptedException | RuntimeException failed) {
                exchange.close();
            } catch (Exception failed) {
                throw new IOException(failed);
            }
        };
    }

    static Void answer(HttpExchange exchange, int bytes) throws IOException {
        try (exchange) {
            exchange.sendResponseHeaders(200, bytes);
            exchange.getResponseBody().write(new byte[bytes]);
        }
        return null;
    }

    /** Leaves the request unanswered; the task that is scheduled for each request does something else. */
    static void forget(HttpExchange exchange, int number) {
        FORGOTTEN.put(number, exchange);
        LATER.schedule(() -> EXPIRED.add(number), 60, TimeUnit.SECONDS);
    }

    static Work work(String mode) throws Exception {
        return switch (mode) {
            case "lock-and-future" -> new LockAndFuture();
            case "nested-pool" -> new NestedPool();
            case "dead-consumer" -> new DeadConsumer();
            case "unread-log" -> new UnreadLog();
            case "read-lock" -> new ReadLock();
            case "lost-read-lock" -> new LostReadLock();
            case "stamped-locks" -> new StampedLocks();
            case "classes" -> new Classes();
            case "own-pool" -> new OwnPool();
            case "latch-of-pool" -> new LatchOfPool();
            case "event-loops" -> new EventLoops();
            case "parallel-stream" -> new ParallelStream();
            case "neighbour" -> new Neighbour();
            case "lost-permit" -> new LostPermit();
            case "latch" -> number -> awaitReport(new CountDownLatch(1));
            case "shared-latch" -> shared(new CountDownLatch(1));
            case "future" -> number -> new CompletableFuture<String>().get();
            case "phaser" -> number -> new Phaser(2).arriveAndAwaitAdvance();
            case "exchanger" -> number -> new Exchanger<String>().exchange("offer");
            case "notify" -> number -> awaitNotify(new Object());
            case "spin" -> number -> untilDone();
            case "slow-client", "idle" -> number -> DONE.incrementAndGet();
            case "long-poll" -> number -> new LinkedBlockingQueue<String>().poll(60, TimeUnit.SECONDS);
            case "slow" -> number -> Thread.sleep(300);
            default -> Pools.work(mode);
        };
    }

    static Work shared(CountDownLatch latch) {
        return number -> awaitReport(latch);
    }

    static void awaitReport(CountDownLatch latch) throws InterruptedException {
        latch.await();
    }

    static void awaitNotify(Object object) throws InterruptedException {
        synchronized (object) {
            object.wait();
        }
    }

    static void untilDone() {
        while (forever) {
            DONE.incrementAndGet();
        }
    }

    /** A request holds a lock and waits for the result of a worker that wants this lock. */
    static final class LockAndFuture implements Work {
        private final ExecutorService workers = Executors.newFixedThreadPool(2, work -> daemon("renderer", work));

        @Override
        public void run(int number) throws Exception {
            ReentrantLock account = new ReentrantLock();
            account.lock();
            try {
                workers.submit(() -> render(account)).get();
            } finally {
                account.unlock();
            }
        }

        static void render(ReentrantLock account) {
            account.lock();
            account.unlock();
        }
    }

    /** Each request holds one of four permits and wants another one. */
    static final class NestedPool implements Work {
        private final Semaphore places = new Semaphore(4);

        @Override
        public void run(int number) throws Exception {
            places.acquire();
            try {
                Thread.sleep(50);
                audit();
            } finally {
                places.release();
            }
        }

        void audit() throws Exception {
            places.acquire();
            places.release();
        }
    }

    /** The thread that empties the queue has ended. */
    static final class DeadConsumer implements Work {
        private final ArrayBlockingQueue<Integer> events = new ArrayBlockingQueue<>(4);

        DeadConsumer() throws InterruptedException {
            Thread consumer = daemon("consumer", () -> {
                if (forever) {
                    return;
                }
                events.clear();
            });
            consumer.start();
            consumer.join();
        }

        @Override
        public void run(int number) throws Exception {
            events.put(number);
        }
    }

    /** The thread that empties the queue writes to a pipe that nobody reads. */
    static final class UnreadLog implements Work {
        private final ArrayBlockingQueue<String> lines = new ArrayBlockingQueue<>(4);

        UnreadLog() {
            daemon("log-writer", this::write).start();
        }

        private void write() {
            while (forever) {
                try {
                    System.out.print(lines.take());
                } catch (InterruptedException ended) {
                    return;
                }
            }
        }

        @Override
        public void run(int number) throws Exception {
            for (int i = 0; i < 100; i++) {
                lines.put("x".repeat(8_000));
            }
        }
    }

    /** A reader waits while it has the lock; a writer waits behind it, and more readers behind the writer. */
    static final class ReadLock implements Work {
        private final ReentrantReadWriteLock graph = new ReentrantReadWriteLock();
        private final LinkedBlockingQueue<String> rows = new LinkedBlockingQueue<>();

        @Override
        public void run(int number) throws Exception {
            if (number == 1) {
                export();
            } else if (number == 2) {
                until(() -> graph.getReadLockCount() > 0);
                graph.writeLock().lock();
                graph.writeLock().unlock();
            } else {
                until(graph::hasQueuedThreads);
                graph.readLock().lock();
                graph.readLock().unlock();
            }
        }

        /** Waits for a thread to arrive, because they must come to the lock in this order. */
        private static void until(BooleanSupplier arrived) throws InterruptedException {
            while (!arrived.getAsBoolean()) {
                Thread.sleep(1);
            }
        }

        private void export() throws InterruptedException {
            graph.readLock().lock();
            try {
                rows.take();
            } finally {
                graph.readLock().unlock();
            }
        }
    }

    /** A thread took the lock for reading, and has ended. */
    static final class LostReadLock implements Work {
        private final ReentrantReadWriteLock graph = new ReentrantReadWriteLock();

        LostReadLock() throws InterruptedException {
            Thread loader = daemon("loader", () -> graph.readLock().lock());
            loader.start();
            loader.join();
        }

        @Override
        public void run(int number) {
            graph.writeLock().lock();
            graph.writeLock().unlock();
        }
    }

    /** Locks without an owner, taken in opposite order. */
    static final class StampedLocks implements Work {
        private final StampedLock stock = new StampedLock();
        private final StampedLock price = new StampedLock();
        private final CountDownLatch both = new CountDownLatch(2);

        @Override
        public void run(int number) throws Exception {
            if (number % 2 == 0) {
                sell();
            } else {
                order();
            }
        }

        private void sell() throws InterruptedException {
            long stamp = stock.writeLock();
            both.countDown();
            both.await();
            price.unlockWrite(price.writeLock());
            stock.unlockWrite(stamp);
        }

        private void order() throws InterruptedException {
            long stamp = price.writeLock();
            both.countDown();
            both.await();
            stock.unlockWrite(stock.writeLock());
            price.unlockWrite(stamp);
        }
    }

    /** Each class needs the other one to be initialised. */
    static final class Classes implements Work {
        static final CountDownLatch BOTH = new CountDownLatch(2);

        static final class Prices {
            static final int RATE = meet() + Taxes.RATE;
        }

        static final class Taxes {
            static final int RATE = meet() + Prices.RATE;
        }

        static int meet() {
            BOTH.countDown();
            await(BOTH);
            return 1;
        }

        @Override
        public void run(int number) {
            DONE.addAndGet(number % 2 == 0 ? Prices.RATE : Taxes.RATE);
        }
    }

    /** Tasks wait for tasks in the queue of their own pool. */
    static final class OwnPool implements Work {
        private final ExecutorService pool = Executors.newFixedThreadPool(2, work -> daemon("worker", work));

        @Override
        public void run(int number) throws Exception {
            pool.submit(this::report).get();
        }

        private String report() throws Exception {
            Thread.sleep(100);
            return pool.submit(() -> "row").get();
        }
    }

    /** Tasks wait for a latch that tasks in the queue of their own pool count down, as blocking calls of reactive libraries do. */
    static final class LatchOfPool implements Work {
        private final ExecutorService pool = Executors.newFixedThreadPool(2, work -> daemon("worker", work));

        @Override
        public void run(int number) {
            CountDownLatch reported = new CountDownLatch(1);
            pool.execute(() -> report(reported));
            await(reported);
        }

        private void report(CountDownLatch reported) {
            CountDownLatch read = new CountDownLatch(1);
            pauseFor(100);
            pool.execute(read::countDown);
            await(read);
            reported.countDown();
        }
    }

    /** Each of two event loops waits for a promise that the other one has to keep. */
    static final class EventLoops implements Work {
        private final EventLoop[] loops = {new EventLoop(), new EventLoop()};

        @Override
        public void run(int number) {
            loops[number % 2].submit(() -> close(loops[(number + 1) % 2])).await();
        }

        private void close(EventLoop other) {
            pauseFor(100);
            other.submit(() -> {}).await();
        }
    }

    /** A thread with its own queue of tasks. */
    static final class EventLoop implements Executor, Runnable {
        private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        private final Thread thread = daemon("loop", this);

        EventLoop() {
            thread.start();
        }

        @Override
        public void run() {
            while (true) {
                try {
                    tasks.take().run();
                } catch (InterruptedException ended) {
                    return;
                }
            }
        }

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        Promise submit(Runnable work) {
            Promise promise = new Promise(work);
            execute(promise);
            return promise;
        }
    }

    /** A promise that threads wait for at the promise itself, as in libraries. */
    static final class Promise implements Runnable {
        private final Runnable work;
        private boolean isKept;

        Promise(Runnable work) {
            this.work = work;
        }

        @Override
        public void run() {
            work.run();
            synchronized (this) {
                isKept = true;
                notifyAll();
            }
        }

        synchronized void await() {
            while (!isKept) {
                try {
                    wait();
                } catch (InterruptedException ended) {
                    throw new IllegalStateException(ended);
                }
            }
        }
    }

    /** The caller of a parallel stream holds the lock that the tasks of the stream want. */
    static final class ParallelStream implements Work {
        private final ReentrantLock totals = new ReentrantLock();
        /** Counted down when a thread of the pool has come to the lock. */
        private final CountDownLatch helped = new CountDownLatch(1);

        @Override
        public void run(int number) {
            totals.lock();
            try {
                IntStream.range(0, 64).parallel().forEach(this::add);
            } finally {
                totals.unlock();
            }
        }

        private void add(int value) {
            if (totals.isHeldByCurrentThread()) {
                await(helped);
            } else {
                helped.countDown();
            }
            totals.lock();
            DONE.addAndGet(value);
            totals.unlock();
        }
    }

    /** A neighbour that never responds, asked by a client with its own threads. */
    static final class Neighbour implements Work {
        private final HttpClient client = HttpClient.newHttpClient();
        private final ServerSocket silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());

        Neighbour() throws Exception {}

        @Override
        public void run(int number) {
            URI uri = URI.create("http://127.0.0.1:" + silent.getLocalPort());
            client.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding()).join();
        }
    }

    /** A request that takes a permit and then fails does not give it back. */
    static final class LostPermit implements Work {
        private final Semaphore permits = new Semaphore(2);
        private final FirstTwo firstTwo = new FirstTwo();

        @Override
        public void run(int number) throws Exception {
            firstTwo.let(number);
            permits.acquire();
            firstTwo.fail(number);
            permits.release();
        }
    }

    /** Lets two requests fail before the others come. */
    static final class FirstTwo {
        private final CountDownLatch failed = new CountDownLatch(2);

        void let(int number) {
            if (number > 2) {
                await(failed);
            }
        }

        void fail(int number) {
            if (number <= 2) {
                failed.countDown();
                throw new IllegalStateException("failed");
            }
        }
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    static void pauseFor(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }
}
