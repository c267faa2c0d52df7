import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.locks.ReentrantLock;

/** Hangs at a thread of the program itself that serves a queue or a pipe. */
final class Loops {
    private static final BlockingQueue<String> FULL = new ArrayBlockingQueue<>(1, false, List.of("row"));

    private Loops() {}

    static Service.Work work(String mode) throws IOException {
        return switch (mode) {
            case "order-loop" -> new OrderLoop();
            case "ended-loop" -> new EndedLoop();
            case "dispatcher" -> new Dispatcher();
            case "pipe-and-monitor" -> new PipeAndMonitor();
            case "retry" -> number -> retry();
            case "sleep-once" -> number -> Thread.sleep(60_000);
            default -> Callbacks.work(mode);
        };
    }

    /** Tries a queue that nobody empties until it has room. */
    private static void retry() throws InterruptedException {
        while (!FULL.offer("row")) {
            Thread.sleep(5);
        }
    }

    /** The loop has taken the order of a request that holds the lock which the loop wants. */
    static final class OrderLoop implements Service.Work {
        private final BlockingQueue<CompletableFuture<String>> orders = new LinkedBlockingQueue<>();
        private final CountDownLatch taken = new CountDownLatch(1);
        private final ReentrantLock ledger = new ReentrantLock();

        OrderLoop() {
            Service.daemon("order-loop", this::serve).start();
        }

        private void serve() {
            try {
                while (true) {
                    CompletableFuture<String> order = orders.take();
                    taken.countDown();
                    ledger.lock();
                    order.complete("booked");
                    ledger.unlock();
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void run(int number) throws Exception {
            place(number);
        }

        private void place(int number) throws Exception {
            CompletableFuture<String> order = new CompletableFuture<>();
            if (number == 1) {
                ledger.lock();
            } else {
                taken.await();
            }
            orders.put(order);
            order.join();
        }
    }

    /** The loop has ended, and the code that fills its queue is of the same class. */
    static final class EndedLoop implements Service.Work {
        private final BlockingQueue<CompletableFuture<String>> orders = new LinkedBlockingQueue<>();

        @Override
        public void run(int number) throws Exception {
            place();
        }

        private void place() throws Exception {
            CompletableFuture<String> order = new CompletableFuture<>();
            orders.put(order);
            order.join();
        }
    }

    /** A task of the only thread waits for another task, which lies in the queue of that thread without a wrapper. */
    static final class Dispatcher implements Service.Work {
        private final LinkedTransferQueue<FutureTask<String>> inbox = new LinkedTransferQueue<>();

        Dispatcher() {
            Service.daemon("dispatcher", this::serve).start();
        }

        private void serve() {
            try {
                while (true) {
                    inbox.take().run();
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void run(int number) throws Exception {
            price(() -> price(() -> "1.90"));
        }

        private String price(Callable<String> work) throws Exception {
            FutureTask<String> task = new FutureTask<>(work);
            inbox.put(task);
            return task.get();
        }
    }

    /** The thread that reads the pipe wants the monitor of the thread that waits for room in it. */
    static final class PipeAndMonitor implements Service.Work {
        private final PipedOutputStream rows = new PipedOutputStream();
        private final PipedInputStream reader = new PipedInputStream(rows, 64);

        PipeAndMonitor() throws IOException {
            Service.daemon("drain", this::drain).start();
        }

        private void drain() {
            try {
                while (reader.read() >= 0) {
                    count();
                }
            } catch (IOException ended) {
                throw new java.io.UncheckedIOException(ended);
            }
        }

        private synchronized void count() {
            Service.DONE.incrementAndGet();
        }

        @Override
        public synchronized void run(int number) throws IOException {
            rows.write(new byte[1_000]);
        }
    }
}
