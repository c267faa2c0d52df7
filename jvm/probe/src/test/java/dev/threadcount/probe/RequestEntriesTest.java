package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.Role;
import dev.threadcount.probe.stacks.ThreadStack;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests with frames of Helidon 4, whose limit on requests comes before its routing. */
class RequestEntriesTest {
    private static final String[] BEGUN = {"io.helidon.webserver.http1.Http1Connection.handle", "io.helidon.webserver.ConnectionHandler.run",
        "java.lang.VirtualThread.run"};
    private static final String[] IN_SEMAPHORE = {"java.lang.VirtualThread.park", "java.util.concurrent.locks.LockSupport.park",
        "java.util.concurrent.Semaphore.tryAcquire", "io.helidon.common.concurrency.limits.FixedLimit.tryAcquire"};
    private static final String[] READS = {"java.lang.VirtualThread.park", "java.util.concurrent.locks.LockSupport.park", "sun.nio.ch.Poller.poll",
        "sun.nio.ch.NioSocketImpl.park", "sun.nio.ch.NioSocketImpl.read", "io.helidon.common.buffers.DataReader.pullData"};
    private static final String[] REQUEST = {"java.lang.Thread.sleep", "shop.Orders.find", "io.helidon.webserver.http1.Http1Connection.route"};

    private static Drawn drawn(Thread thread, String[]... parts) {
        StackTraceElement[] frames = Stream.of(parts).flatMap(Stream::of).map(frame -> {
            int dot = frame.lastIndexOf('.');
            return new StackTraceElement(frame.substring(0, dot), frame.substring(dot + 1), "F.java", 7);
        }).toArray(StackTraceElement[]::new);
        return Drawn.of(thread, new ThreadStack(frames, Thread.State.WAITING, thread.isVirtual(), false, null, List.of()));
    }

    private static Thread virtual() {
        return Thread.ofVirtual().unstarted(() -> { });
    }

    private static List<Role> roles(Drawn... drawn) {
        return RequestEntries.named(List.of(drawn)).stream().map(one -> one.activity().role()).toList();
    }

    @Test
    void whatWaitsInTheServerOnTheWayOfARequestIsOneAndAnIdleConnectionIsNone() {
        Drawn request = drawn(virtual(), REQUEST, BEGUN);
        Drawn waits = drawn(virtual(), IN_SEMAPHORE, BEGUN);
        assertEquals(List.of(Role.REQUEST, Role.REQUEST, Role.OTHER), roles(request, waits, drawn(virtual(), READS, BEGUN)));
        assertEquals(List.of(Role.OTHER), roles(waits), "no request shows the way");
    }

    @Test
    void aThreadThatWasBegunElsewhereOrBelongsToAPoolKeepsItsRole() {
        Drawn request = drawn(virtual(), REQUEST, BEGUN);
        String[] elsewhere = {"io.helidon.common.task.Pool.take", "io.helidon.common.task.Pool.run", "java.lang.VirtualThread.run"};
        Thread platform = Thread.ofPlatform().unstarted(() -> { });
        assertEquals(List.of(Role.REQUEST, Role.OTHER, Role.OTHER),
                roles(request, drawn(virtual(), IN_SEMAPHORE, elsewhere), drawn(platform, IN_SEMAPHORE, BEGUN)));
    }
}
