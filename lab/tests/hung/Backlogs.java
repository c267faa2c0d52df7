import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

/** Queues that a program implements itself, guarded by a plain object. */
final class Backlogs {
    private Backlogs() {}

    static Service.Work work(String mode) throws IOException {
        return switch (mode) {
            case "own-queue-chain" -> new Stages(false);
            case "own-queue-circle" -> new Stages(true);
            case "own-queue-worker" -> new OneWorker(true);
            case "own-queue-slow" -> new SlowStage();
            case "own-queue-idle" -> new OneWorker(false);
            default -> Limiters.work(mode);
        };
    }

    /** A queue with room for this many elements. */
    static final class Bounded<T> {
        private final Object guard = new Object();
        private final Queue<T> elements = new ArrayDeque<>();
        private final int most;

        Bounded(int most) {
            this.most = most;
        }

        void put(T element) throws InterruptedException {
            synchronized (guard) {
                while (elements.size() == most) {
                    guard.wait();
                }
                elements.add(element);
                guard.notifyAll();
            }
        }

        T take() throws InterruptedException {
            synchronized (guard) {
                while (elements.isEmpty()) {
                    guard.wait();
                }
                T element = elements.remove();
                guard.notifyAll();
                return element;
            }
        }
    }

    interface Step {
        void run() throws InterruptedException;
    }

    static void repeat(Step step) {
        try {
            while (true) {
                step.run();
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Each stage takes from one queue and puts into the next one, whose consumer has ended, or back into the first. */
    static final class Stages implements Service.Work {
        private final Bounded<Integer> orders = new Bounded<>(2);
        private final Bounded<Integer> bills = new Bounded<>(2);

        Stages(boolean isCircle) {
            Service.daemon("biller", () -> repeat(this::bill)).start();
            if (isCircle) {
                Service.daemon("corrector", () -> repeat(this::correct)).start();
            }
        }

        private void bill() throws InterruptedException {
            int order = orders.take();
            bills.put(order);
            bills.put(order);
        }

        /** Orders each bill twice. */
        private void correct() throws InterruptedException {
            int bill = bills.take();
            orders.put(bill);
            orders.put(bill);
        }

        @Override
        public void run(int number) throws Exception {
            for (int i = 0; i < 8; i++) {
                orders.put(number);
            }
        }
    }

    /** All requests wait for room, and each of them gets it. */
    static final class SlowStage implements Service.Work {
        private final Bounded<CountDownLatch> orders = new Bounded<>(1);

        SlowStage() {
            Service.daemon("biller", () -> repeat(this::bill)).start();
        }

        private void bill() throws InterruptedException {
            CountDownLatch order = orders.take();
            Thread.sleep(100);
            order.countDown();
        }

        @Override
        public void run(int number) throws Exception {
            CountDownLatch done = new CountDownLatch(1);
            orders.put(done);
            done.await();
        }
    }

    /** Tasks for a single worker, each of which may wait for another task behind it. */
    static final class OneWorker implements Service.Work {
        private final Bounded<FutureTask<String>> tasks = new Bounded<>(Integer.MAX_VALUE);
        private final boolean isNested;

        OneWorker(boolean isNested) {
            this.isNested = isNested;
            Service.daemon("worker", () -> repeat(this::work)).start();
        }

        private void work() throws InterruptedException {
            tasks.take().run();
        }

        private String price(Callable<String> work) throws Exception {
            FutureTask<String> task = new FutureTask<>(work);
            tasks.put(task);
            return task.get();
        }

        @Override
        public void run(int number) throws Exception {
            Callable<String> tax = () -> "1.90";
            price(isNested ? () -> price(tax) : tax);
        }
    }
}
