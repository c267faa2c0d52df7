import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Services with a known limit of the requests that run at once, and look-alikes without one. Arguments: PORT MODE. */
class Limits {
    private static final Object LOCK = new Object();
    private static final Semaphore PERMITS = new Semaphore(5);
    private static final AtomicInteger FREE = new AtomicInteger(5);
    private static final BlockingQueue<Object> PLACES = new ArrayBlockingQueue<>(5);
    private static final ScheduledExecutorService CLOCK = Executors.newScheduledThreadPool(1, named("clock"));
    private static final BlockingQueue<CompletableFuture<Void>> ORDERS = new LinkedBlockingQueue<>();

    public static void main(String[] arguments) throws Exception {
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
        switch (arguments[1]) {
            case "fork" -> serve(arguments[0], new ForkJoinPool(2), Limits::work);
            case "core" -> {
                ThreadPoolExecutor tasks = new ThreadPoolExecutor(4, 50, 60, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), named("task"));
                serve(arguments[0], virtual, () -> tasks.submit(Limits::work).get());
            }
            case "permits" -> serve(arguments[0], virtual, Limits::withPermit);
            case "monitor" -> serve(arguments[0], virtual, Limits::oneByOne);
            case "consumer" -> {
                named("consumer").newThread(Limits::consume).start();
                serve(arguments[0], virtual, Limits::order);
            }
            case "let-in" -> serve(arguments[0], new LetIn(5, Executors.newFixedThreadPool(64, named("roomy"))), Limits::work);
            case "ordered" -> serve(arguments[0], new LetIn(1, Executors.newFixedThreadPool(64, named("ordered"))), Limits::work);
            case "unthreaded" -> unthreaded(arguments[0], virtual);
            case "apart" -> apart(arguments[0], Executors.newFixedThreadPool(64, named("apart")));
            case "free" -> serve(arguments[0], virtual, Limits::work);
            case "jobs" -> {
                ExecutorService jobs = Executors.newFixedThreadPool(2, named("job"));
                for (int i = 0; i < 1_000; i++) {
                    jobs.submit(() -> { Thread.sleep(500); return null; });
                }
                serve(arguments[0], virtual, Limits::work);
            }
            case "sleeps" -> serve(arguments[0], Executors.newFixedThreadPool(64, named("asleep")), Limits::whenFree);
            case "offers" -> serve(arguments[0], virtual, Limits::inQueue);
            case "polls" -> serve(arguments[0], virtual, Limits::polls);
            case "poll" -> serve(arguments[0], virtual, Limits::poll);
            default -> throw new IllegalArgumentException(arguments[1]);
        }
    }

    private static void serve(String port, Executor executor, Callable<Object> work) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(port)), 1_024);
        server.setExecutor(executor);
        server.createContext("/", exchange -> {
            try (exchange) {
                work.call();
                exchange.sendResponseHeaders(204, -1);
            } catch (Exception failed) {
                throw new IOException(failed);
            }
        });
        server.start();
    }

    /** A request works on a thread, and then waits without one: how many work at once is chance. */
    private static void apart(String port, Executor executor) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(port)), 1_024);
        server.setExecutor(executor);
        server.createContext("/", exchange -> {
            sleep(ThreadLocalRandom.current().nextInt(5, 35));
            CLOCK.schedule(() -> end(exchange), ThreadLocalRandom.current().nextInt(5, 75), TimeUnit.MILLISECONDS);
        });
        server.start();
    }

    /** Six requests at a time wait for a clock, and the others in a queue, all of them without a thread. */
    private static void unthreaded(String port, Executor executor) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(port)), 1_024);
        server.setExecutor(executor);
        Semaphore places = new Semaphore(6);
        ConcurrentLinkedQueue<HttpExchange> waiting = new ConcurrentLinkedQueue<>();
        server.createContext("/", exchange -> {
            waiting.add(exchange);
            next(places, waiting);
        });
        server.start();
    }

    private static void next(Semaphore places, ConcurrentLinkedQueue<HttpExchange> waiting) {
        while (!waiting.isEmpty() && places.tryAcquire()) {
            HttpExchange exchange = waiting.poll();
            if (exchange == null) {
                places.release();
            } else {
                CLOCK.schedule(() -> {
                    end(exchange);
                    places.release();
                    next(places, waiting);
                }, 20, TimeUnit.MILLISECONDS);
            }
        }
    }

    private static void end(HttpExchange exchange) {
        try (exchange) {
            exchange.sendResponseHeaders(204, -1);
        } catch (IOException gone) {
            throw new java.io.UncheckedIOException(gone);
        }
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lets this many tasks at once into an executor with more threads; a thread runs one task after the other while there are some. */
    private static final class LetIn implements Executor {
        private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
        private final Semaphore places;
        private final Executor executor;

        LetIn(int most, Executor executor) {
            places = new Semaphore(most);
            this.executor = executor;
        }

        @Override
        public void execute(Runnable task) {
            waiting.add(task);
            if (places.tryAcquire()) {
                executor.execute(this::drain);
            }
        }

        private void drain() {
            do {
                for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
                    task.run();
                }
                places.release();
            } while (!waiting.isEmpty() && places.tryAcquire());
        }
    }

    private static Object work() throws InterruptedException {
        Thread.sleep(20);
        return null;
    }

    private static Object withPermit() throws InterruptedException {
        PERMITS.acquire();
        try {
            return work();
        } finally {
            PERMITS.release();
        }
    }

    /** Sleeps until a place is free. */
    private static Object whenFree() throws InterruptedException {
        while (!takesPlace()) {
            Thread.sleep(3);
        }
        try {
            return work();
        } finally {
            FREE.incrementAndGet();
        }
    }

    private static boolean takesPlace() {
        int free = FREE.get();
        return free > 0 && FREE.compareAndSet(free, free - 1);
    }

    /** Waits briefly for a place, again and again. */
    private static Object inQueue() throws InterruptedException {
        Object own = new Object();
        while (!PLACES.offer(own, 5, TimeUnit.MILLISECONDS)) {
            Thread.onSpinWait();
        }
        try {
            return work();
        } finally {
            PLACES.remove(own);
        }
    }

    /** Sleeps until something that comes from outside is there. */
    private static Object polls() throws InterruptedException {
        CompletableFuture<Void> news = new CompletableFuture<>();
        CLOCK.schedule(() -> news.complete(null), 50, TimeUnit.MILLISECONDS);
        while (!news.isDone()) {
            Thread.sleep(5);
        }
        return work();
    }

    private static Object oneByOne() throws InterruptedException {
        synchronized (LOCK) {
            return work();
        }
    }

    private static Object order() throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        ORDERS.put(done);
        return done.get();
    }

    private static void consume() {
        try {
            while (true) {
                CompletableFuture<Void> done = ORDERS.take();
                work();
                done.complete(null);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for something that comes from outside. */
    private static Object poll() throws Exception {
        CompletableFuture<Void> news = new CompletableFuture<>();
        CLOCK.schedule(() -> news.complete(null), 50, TimeUnit.MILLISECONDS);
        return news.get();
    }

    private static java.util.concurrent.ThreadFactory named(String name) {
        return task -> {
            Thread thread = Thread.ofPlatform().daemon().unstarted(task);
            thread.setName(name + "-" + thread.threadId());
            return thread;
        };
    }
}
