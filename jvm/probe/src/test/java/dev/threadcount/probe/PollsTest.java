package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.State;
import dev.threadcount.probe.stacks.ThreadStack;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PollsTest {
    private static final long LONG_MS = 600_000;
    private static final int SPINNING = 7;

    interface Work {
        void run() throws InterruptedException;
    }

    /** Paces by parking for a time. */
    static final class Pace {
        private final AtomicInteger turn = new AtomicInteger();

        void next() {
            LockSupport.parkNanos(LONG_MS * 1_000_000);
        }

        void ring() {
            while (turn.get() == 0) {
                LockSupport.parkNanos(LONG_MS * 1_000_000);
            }
        }
    }

    /** A result of its own: what it parks it also unparks. */
    static final class Result {
        private volatile Thread waiting;

        void get() {
            waiting = Thread.currentThread();
            LockSupport.parkNanos(LONG_MS * 1_000_000);
        }

        void complete() {
            LockSupport.unpark(waiting);
        }
    }

    /** A program that sleeps in many ways. */
    static final class Shop {
        private final AtomicInteger free = new AtomicInteger(1);
        private final Future<String> result = new CompletableFuture<>();
        private final List<String> news = List.of();

        void page() throws InterruptedException {
            enter();
            work();
            free.incrementAndGet();
        }

        void pageInOneLine() throws InterruptedException {
            enter(); work(); free.incrementAndGet();
        }

        private void enter() throws InterruptedException {
            while (true) {
                int now = free.get();
                if (now > 0 && free.compareAndSet(now, now - 1)) {
                    return;
                }
                pause(LONG_MS);
            }
        }

        private static void pause(long ms) throws InterruptedException {
            TimeUnit.MILLISECONDS.sleep(ms);
        }

        private void work() throws InterruptedException {
            Thread.sleep(LONG_MS);
        }

        void other(boolean isNews) throws InterruptedException {
            if (isNews) {
                await();
            } else {
                work();
            }
        }

        private void await() throws InterruptedException {
            while (news.isEmpty()) {
                Thread.sleep(LONG_MS);
            }
        }

        void poll() throws InterruptedException {
            while (!result.isDone()) {
                Thread.sleep(LONG_MS);
            }
        }

        void spin(AtomicInteger spins) throws InterruptedException {
            while (free.get() > 0) {
                if (spins.incrementAndGet() > 1 && free.get() != SPINNING) {
                    Thread.sleep(LONG_MS);
                }
            }
        }

        void stream(ByteArrayOutputStream to) throws InterruptedException {
            for (int part = 0; part < 6 && to.size() < 9; part++) {
                to.write(part);
                Thread.sleep(LONG_MS);
            }
        }

        void parts() throws InterruptedException {
            for (int part = 0; part < 6; part++) {
                pause(LONG_MS);
            }
        }

        void until(long endNs) throws InterruptedException {
            while (System.nanoTime() < endNs) {
                Thread.sleep(LONG_MS);
            }
        }
    }

    private final Shop shop = new Shop();
    private final Polls polls = new Polls(() -> new Class<?>[] {Shop.class, Pace.class, Result.class});
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void end() {
        threads.forEach(Thread::interrupt);
    }

    /** The thread that does this until it sleeps. */
    private ThreadStack asleep(Work work) throws InterruptedException {
        Thread thread = begun(work);
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        return ThreadStack.of(thread);
    }

    private Thread begun(Work work) {
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                work.run();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        });
        threads.add(thread);
        return thread;
    }

    private Work other(boolean isNews) {
        return () -> shop.other(isNews);
    }

    private State state(ThreadStack stack) {
        return polls.named(Drawn.of(Thread.currentThread(), stack)).activity().state();
    }

    @Test
    void whoeverSleepsUntilAPlaceIsFreeOrAResultIsThereIsPolling() throws InterruptedException {
        ThreadStack works = asleep(shop::page);
        ThreadStack waits = asleep(shop::page);
        assertEquals(State.SLEEP, state(works));
        assertEquals(State.POLL, state(waits), "by a helper that has the time from its caller");
        assertEquals(State.POLL, state(asleep(shop::poll)));
    }

    @Test
    void theThreadsThatCameTheSameWayAndArePastTheLoopAreThoseThatItWaitsFor() throws InterruptedException {
        ThreadStack works = asleep(shop::page);
        ThreadStack waits = asleep(shop::page);
        assertEquals(State.POLL, state(asleep(shop::page)));
        assertNull(polls.past(waits), "only another one that waits was sampled");
        assertEquals(State.SLEEP, state(works));
        String past = polls.past(waits);
        assertTrue(past.startsWith(Shop.class.getName() + ".work:"), past);
        ThreadStack news = asleep(other(true));
        assertEquals(State.POLL, state(news));
        assertEquals(State.SLEEP, state(asleep(other(false))));
        assertNull(polls.past(news), "another branch, and another way");
    }

    @Test
    void twoCallsMayBeOnOneLine() throws InterruptedException {
        ThreadStack works = asleep(shop::pageInOneLine);
        ThreadStack waits = asleep(shop::pageInOneLine);
        assertEquals(State.SLEEP, state(works));
        assertTrue(polls.past(waits).startsWith(Shop.class.getName() + ".work:"));
    }

    @Test
    void oneThatSpinsBeforeItSleepsIsInTheSameLoop() throws InterruptedException {
        AtomicInteger spins = new AtomicInteger();
        assertEquals(State.POLL, state(asleep(() -> shop.spin(spins))));
        shop.free.set(SPINNING);
        int before = spins.get();
        Thread spinning = begun(() -> shop.spin(spins));
        while (spins.get() == before) {
            Thread.onSpinWait();
        }
        ThreadStack stack = ThreadStack.of(spinning);
        shop.free.set(-1);
        assertEquals(State.POLL, state(stack));
    }

    @Test
    void oneThatIsParkedForATimeSleepsOrPollsUnlessItsClassUnparksIt() throws InterruptedException {
        assertEquals(State.SLEEP, state(asleep(new Pace()::next)));
        assertEquals(State.POLL, state(asleep(new Pace()::ring)));
        assertEquals(State.WAIT, state(asleep(new Result()::get)));
    }

    @Test
    void aStreamPartsAndAPauseUntilATimeOnlySleep() throws InterruptedException {
        assertEquals(State.SLEEP, state(asleep(() -> shop.stream(new ByteArrayOutputStream()))));
        assertEquals(State.SLEEP, state(asleep(shop::parts)));
        assertEquals(State.SLEEP, state(asleep(() -> shop.until(Long.MAX_VALUE))));
    }
}
