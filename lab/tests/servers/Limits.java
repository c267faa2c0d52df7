import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Services with a known limit of the requests that run at once, and services that look alike and have none: PORT MODE. */
class Limits {
    private static final Object LOCK = new Object();
    private static final Semaphore PERMITS = new Semaphore(5);
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
            case "free" -> serve(arguments[0], virtual, Limits::work);
            case "jobs" -> {
                ExecutorService jobs = Executors.newFixedThreadPool(2, named("job"));
                for (int i = 0; i < 1_000; i++) {
                    jobs.submit(() -> { Thread.sleep(500); return null; });
                }
                serve(arguments[0], virtual, Limits::work);
            }
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

    /** What is waited for comes from outside. */
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
