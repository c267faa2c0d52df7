package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.Classifier;
import dev.threadcount.probe.stacks.ThreadStack;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HoldersTest {
    private static final Object MONITOR = new Object();

    private static ThreadStack in(String method, Thread.State state, Object blocker, List<Object> monitors) {
        StackTraceElement[] frames = {new StackTraceElement("shop.Orders", method, "Orders.java", 7)};
        return new ThreadStack(frames, state, true, false, blocker, monitors);
    }

    private static String holder(ThreadStack... others) {
        ThreadStack blocked = in("add", Thread.State.BLOCKED, MONITOR, List.of());
        Activity activity = Classifier.classify(blocked);
        return new Holders(null, List.of(others), Map.of()).of(Thread.ofVirtual().unstarted(() -> {}), blocked, activity);
    }

    @Test
    void whoIsInObjectWaitHasGivenUpTheMonitorAndWhoOwnsItWithoutHoldsIt() {
        ThreadStack waits = in("await", Thread.State.WAITING, MONITOR, List.of(MONITOR));
        assertNull(holder(waits));
        ThreadStack holds = in("save", Thread.State.TIMED_WAITING, null, List.of(MONITOR));
        assertEquals("shop.Orders.save:7", holder(waits, holds));
        assertEquals("shop.Orders.save:7", holder(holds, waits));
    }
}
