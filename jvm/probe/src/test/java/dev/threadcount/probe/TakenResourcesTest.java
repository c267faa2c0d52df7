package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.probe.TakenResources.Resource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TakenResourcesTest {
    interface Work {
        void run() throws InterruptedException;
    }

    /** Its connections lie in a queue. */
    static final class Pool {
        private final BlockingQueue<Connection> idle = new LinkedBlockingQueue<>();

        Connection connection() throws InterruptedException {
            return idle.take();
        }
    }

    record Connection(Pool pool) implements AutoCloseable {
        @Override
        public void close() {
            pool.idle.add(this);
        }
    }

    /** A program that waits in many ways. */
    static final class Shop {
        private final Pool pool = new Pool();
        private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
        private final StampedLock world = new StampedLock();
        private final Semaphore permits = new Semaphore(1);
        private boolean isBusy = true;

        void order() throws InterruptedException {
            try (Connection connection = pool.connection()) {
                audit(connection);
            }
        }

        private void audit(Connection outer) throws InterruptedException {
            try (Connection connection = pool.connection()) {
                connection.pool().idle.add(outer);
            }
        }

        void branch(boolean isFirst) throws InterruptedException {
            if (isFirst) {
                Connection connection = pool.connection();
                connection.close();
            } else {
                Connection connection = pool.connection();
                connection.close();
            }
        }

        void rest() throws InterruptedException {
            Connection connection = pool.connection();
            connection.close();
            pool.idle.clear();
            LockSupport.park();
        }

        void limited() throws InterruptedException {
            begin();
            try {
                pool.connection();
            } finally {
                permits.release();
            }
        }

        private void begin() throws InterruptedException {
            permits.acquire();
        }

        void read() throws InterruptedException {
            isBusy = messages.take().isEmpty();
        }

        void turn() throws InterruptedException {
            enter();
            leave();
        }

        private synchronized void enter() throws InterruptedException {
            while (isBusy) {
                wait();
            }
            isBusy = true;
        }

        private synchronized void leave() {
            isBusy = false;
            notifyAll();
        }

        void update() {
            long stamp = world.readLock();
            world.unlockWrite(world.writeLock());
            world.unlockRead(stamp);
        }
    }

    private final Shop shop = new Shop();
    private final TakenResources resources = new TakenResources(new LoadedCode(() -> new Class<?>[] {Shop.class, Pool.class, Connection.class}));

    /** The thread that does this until it waits. */
    private static Thread waiting(Work work) throws InterruptedException {
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                work.run();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        });
        while (thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        return thread;
    }

    private Resource wanted(Thread thread) {
        return resources.of(thread.getStackTrace());
    }

    private Set<Long> holders(Resource wanted, Thread... threads) {
        Map<Long, StackTraceElement[]> stacks = Stream.of(threads).collect(Collectors.toMap(Thread::threadId, Thread::getStackTrace));
        Set<Long> blocked = Stream.of(threads).filter(it -> it.getState() == Thread.State.BLOCKED).map(Thread::threadId).collect(Collectors.toSet());
        return resources.holders(stacks, blocked, wanted.takers()).keySet();
    }

    @Test
    void aThreadPastTheCallThatTakesOneHasIt() throws InterruptedException {
        shop.pool.idle.add(new Connection(shop.pool));
        Thread holder = waiting(shop::order);
        Thread first = waiting(shop::order);
        Resource wanted = wanted(first);
        assertEquals("a Connection of " + Pool.class.getName() + ".connection", wanted.name());
        assertTrue(wanted.isGivenBack());
        assertEquals(Set.of(holder.threadId()), holders(wanted, holder, first));
    }

    @Test
    void aThreadInAnotherBranchOrPastTheCallThatGivesItBackHasNone() throws InterruptedException {
        Thread one = waiting(() -> shop.branch(true));
        Thread other = waiting(() -> shop.branch(false));
        assertEquals(Set.of(), holders(wanted(one), one, other));
        assertEquals(Set.of(), holders(wanted(other), one, other));
        shop.pool.idle.add(new Connection(shop.pool));
        one.join();
        other.join();
        Thread rests = waiting(shop::rest);
        Thread waits = waiting(shop::order);
        assertEquals(Set.of(), holders(wanted(waits), rests, waits));
    }

    @Test
    void aMessageIsNotGivenBackAndATurnIs() throws InterruptedException {
        assertFalse(wanted(waiting(shop::read)).isGivenBack());
        Resource turn = wanted(waiting(shop::turn));
        assertEquals("a permit of " + Shop.class.getName() + ".enter", turn.name());
        assertTrue(turn.isGivenBack());
    }

    @Test
    void aPermitThatAnotherMethodTakesIsHeldUntilItsFieldIsGivenOne() throws InterruptedException {
        Thread holder = waiting(shop::limited);
        Thread waits = waiting(shop::limited);
        assertTrue(wanted(waits).isGivenBack());
        assertEquals(Set.of(holder.threadId()), holders(wanted(waits), holder, waits));
    }

    @Test
    void aReadStampIsHeldByTheThreadThatWantsToWrite() throws InterruptedException {
        Thread writer = waiting(shop::update);
        Resource wanted = wanted(writer);
        assertTrue(wanted.isGivenBack());
        assertEquals(Set.of(writer.threadId()), holders(wanted, writer));
    }
}
