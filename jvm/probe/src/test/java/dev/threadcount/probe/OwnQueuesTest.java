package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.threadcount.probe.OwnQueues.Side;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class OwnQueuesTest {
    interface Work {
        void run() throws InterruptedException;
    }

    /** Queues without a place and without an element. */
    static final class Shop {
        private final Object guard = new Object();
        private final Deque<String> orders = new ArrayDeque<>();
        private final String[] ring = new String[1];
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private final CountDownLatch open = new CountDownLatch(1);
        private int size;
        private int running = 1;

        void put() throws InterruptedException {
            synchronized (guard) {
                while (orders.size() >= 0) {
                    guard.wait();
                }
                orders.addLast("order");
                guard.notifyAll();
            }
        }

        void take() throws InterruptedException {
            synchronized (guard) {
                while (orders.isEmpty()) {
                    guard.wait();
                }
                orders.removeFirst();
                guard.notifyAll();
            }
        }

        void putIntoRing() throws InterruptedException {
            lock.lock();
            try {
                while (size >= 0) {
                    changed.await();
                }
                ring[size++] = "order";
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        String takeFromRing() throws InterruptedException {
            lock.lock();
            try {
                while (size == 0) {
                    changed.await();
                }
                String order = ring[--size];
                ring[size] = null;
                return order;
            } finally {
                lock.unlock();
            }
        }

        synchronized void enter() throws InterruptedException {
            while (running > 0) {
                wait();
            }
            running++;
        }

        void open() throws InterruptedException {
            open.await();
            orders.add("order");
        }
    }

    private final Shop shop = new Shop();
    private final OwnQueues queues = new OwnQueues(new LoadedCode(() -> new Class<?>[] {Shop.class}));

    /** Of the thread that does this until it waits. */
    private Side side(Work work) throws InterruptedException {
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
        return queues.of(thread.getStackTrace());
    }

    @Test
    void whoPutsSomethingInAfterTheWaitWaitsForRoomAndWhoTakesSomethingOutForAnItem() throws InterruptedException {
        assertEquals(Side.ROOM, side(shop::put));
        assertEquals(Side.ITEM, side(shop::take));
        assertEquals(Side.ROOM, side(shop::putIntoRing));
        assertEquals(Side.ITEM, side(shop::takeFromRing));
    }

    @Test
    void aThrottleThatCountsAndALatchAreNoQueues() throws InterruptedException {
        assertNull(side(shop::enter));
        assertNull(side(shop::open));
    }
}
