import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;

/** Hangs at pools, throttles and locks that a program implements itself, and look-alikes. */
final class Pools {
    private Pools() {}

    static Service.Work work(String mode) throws java.io.IOException {
        return switch (mode) {
            case "own-nested-pool" -> new OwnNestedPool();
            case "own-leaky-pool" -> new OwnLeakyPool();
            case "two-branches" -> new TwoBranches();
            case "leaky-throttle" -> new LeakyThrottle();
            case "pool-and-lock" -> new PoolAndLock();
            case "busy-pool" -> new BusyPool();
            case "read-stamp" -> new ReadStamp();
            case "method-reference" -> new MethodReference();
            case "completion-service" -> new CompletionService();
            case "mailbox" -> new Mailbox();
            case "overtaken" -> new Overtaking(true);
            case "lost-turn" -> new Overtaking(false);
            default -> Loops.work(mode);
        };
    }

    /** Two turns for all. The first requests are in the queue of the others, which overtake them, or in their own queue, which nobody serves. */
    static final class Overtaking implements Service.Work {
        private static final int FIRST = 4;
        private final Turns turns = new Turns();
        private final Turns first;

        Overtaking(boolean inOneQueue) {
            first = inOneQueue ? turns : new Turns();
        }

        @Override
        public void run(int number) {
            (number <= FIRST ? first : turns).enter(number <= FIRST);
            Service.pauseFor(20);
            turns.leave();
        }
    }

    static final class Turns {
        private final ArrayDeque<Thread> waiting = new ArrayDeque<>();
        private final Set<Thread> called = ConcurrentHashMap.newKeySet();
        private int left = 2;

        void enter(boolean isLast) {
            Thread own = Thread.currentThread();
            synchronized (this) {
                if (!isLast && left > 0) {
                    left--;
                    return;
                }
                if (!isLast) {
                    waiting.add(own);
                }
            }
            while (!called.remove(own)) {
                LockSupport.park(this);
            }
        }

        synchronized void leave() {
            Thread next = waiting.poll();
            if (next == null) {
                left++;
            } else {
                called.add(next);
                LockSupport.unpark(next);
            }
        }
    }

    /** A connection of the pool below. */
    static final class Connection implements AutoCloseable {
        private final Pool pool;

        Connection(Pool pool) {
            this.pool = pool;
        }

        void query(long ms) {
            Service.pauseFor(ms);
        }

        @Override
        public void close() {
            pool.idle.add(this);
        }
    }

    /** A pool that keeps its idle connections in a queue. */
    static final class Pool {
        private final BlockingQueue<Connection> idle = new LinkedBlockingQueue<>();

        Pool(int size) {
            for (int i = 0; i < size; i++) {
                idle.add(new Connection(this));
            }
        }

        Connection connection() {
            try {
                return idle.take();
            } catch (InterruptedException ended) {
                throw new IllegalStateException(ended);
            }
        }
    }

    /** Each request has a connection and wants a second one. */
    static final class OwnNestedPool implements Service.Work {
        private final Pool pool = new Pool(4);

        @Override
        public void run(int number) {
            try (Connection connection = pool.connection()) {
                connection.query(100);
                audit();
            }
        }

        private void audit() {
            try (Connection connection = pool.connection()) {
                connection.query(1);
            }
        }
    }

    /** Requests that fail do not close their connection. */
    static final class OwnLeakyPool implements Service.Work {
        private final Pool pool = new Pool(2);
        private final Service.FirstTwo firstTwo = new Service.FirstTwo();

        @Override
        public void run(int number) {
            firstTwo.let(number);
            Connection connection = pool.connection();
            firstTwo.fail(number);
            connection.query(1);
            connection.close();
        }
    }

    /** The same in two branches of one method: a thread in the second branch has not been in the first. */
    static final class TwoBranches implements Service.Work {
        private final Pool pool = new Pool(2);
        private final Service.FirstTwo firstTwo = new Service.FirstTwo();

        @Override
        public void run(int number) {
            firstTwo.let(number);
            if (number % 2 == 0) {
                Connection connection = pool.connection();
                query(connection, number);
                connection.close();
            } else {
                Connection connection = pool.connection();
                query(connection, number);
                connection.close();
            }
        }

        private void query(Connection connection, int number) {
            firstTwo.fail(number);
            connection.query(1);
        }
    }

    /** A throttle by {@code wait}, like Spring's, whose turns are not given back. */
    static final class LeakyThrottle implements Service.Work {
        private final Service.FirstTwo firstTwo = new Service.FirstTwo();
        private int running;

        @Override
        public void run(int number) {
            firstTwo.let(number);
            enter();
            firstTwo.fail(number);
            leave();
        }

        private synchronized void enter() {
            while (running == 2) {
                try {
                    wait();
                } catch (InterruptedException ended) {
                    throw new IllegalStateException(ended);
                }
            }
            running++;
        }

        private synchronized void leave() {
            running--;
            notifyAll();
        }
    }

    /** Each request has a connection and wants a lock whose owner wants another connection. */
    static final class PoolAndLock implements Service.Work {
        private final Pool pool = new Pool(4);
        private final CountDownLatch all = new CountDownLatch(4);
        private final ReentrantLock rates = new ReentrantLock();

        @Override
        public void run(int number) {
            if (number <= 4) {
                try (Connection connection = pool.connection()) {
                    all.countDown();
                    Service.await(all);
                    Service.pauseFor(100);
                    report(connection);
                }
            } else {
                Service.await(all);
                refresh();
            }
        }

        private void report(Connection connection) {
            rates.lock();
            try {
                connection.query(1);
            } finally {
                rates.unlock();
            }
        }

        private void refresh() {
            rates.lock();
            try (Connection connection = pool.connection()) {
                connection.query(1);
            } finally {
                rates.unlock();
            }
        }
    }

    /** A look-alike: all requests wait for a small pool, and go on. */
    static final class BusyPool implements Service.Work {
        private final Pool pool = new Pool(2);

        @Override
        public void run(int number) {
            try (Connection connection = pool.connection()) {
                connection.query(50);
            }
        }
    }

    /** A thread wants to write before it has given its read stamp back. */
    static final class ReadStamp implements Service.Work {
        private final StampedLock world = new StampedLock();

        @Override
        public void run(int number) {
            long stamp = world.readLock();
            try {
                update(number);
            } finally {
                world.unlockRead(stamp);
            }
        }

        private void update(int number) {
            long stamp = world.writeLock();
            Service.DONE.addAndGet(number);
            world.unlockWrite(stamp);
        }
    }

    /** The worker's task is a method, and wants the monitor that the request holds. */
    static final class MethodReference implements Service.Work {
        private final ExecutorService workers = Executors.newFixedThreadPool(2, work -> Service.daemon("loader", work));

        @Override
        public synchronized void run(int number) {
            CompletableFuture.supplyAsync(this::load, workers).join();
        }

        private synchronized Integer load() {
            return 1;
        }
    }

    /** Tasks wait for results of tasks in the queue of their own pool. The results come over a queue. */
    static final class CompletionService implements Service.Work {
        private final ExecutorService pool = Executors.newFixedThreadPool(2, work -> Service.daemon("worker", work));

        @Override
        public void run(int number) throws Exception {
            pool.submit(this::report).get();
        }

        private String report() throws Exception {
            Service.pauseFor(100);
            var rows = new ExecutorCompletionService<String>(pool);
            rows.submit(() -> "row");
            return rows.take().get();
        }
    }

    /** Waits for a message that need not come. */
    static final class Mailbox implements Service.Work {
        private final ArrayBlockingQueue<String> messages = new ArrayBlockingQueue<>(4);

        @Override
        public void run(int number) throws Exception {
            Service.DONE.addAndGet(messages.take().length());
        }
    }
}
