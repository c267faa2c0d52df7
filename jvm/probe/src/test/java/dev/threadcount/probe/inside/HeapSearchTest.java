package dev.threadcount.probe.inside;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.threadcount.probe.stacks.Keeper;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class HeapSearchTest {
    /** Has fields with the names of a queue. */
    static final class TaskQueue {
        private final Object[] tasks = new Object[4];
    }

    /** Runs one task after the other. */
    static final class Serial {
        private final TaskQueue waiting = new TaskQueue();
        private final Map<String, Object> known = new ConcurrentHashMap<>();
    }

    record Task(Object result) {}

    /** Has the name of a queue, and waits for a result of its own. */
    static final class QueueService {
        private final CompletableFuture<String> ready = new CompletableFuture<>();
        private final TicketNode first = new TicketNode("ticket");
    }

    static final class TicketNode {
        private final Object ticket;
        private TicketNode next;

        TicketNode(Object ticket) {
            this.ticket = ticket;
        }
    }

    static final class Shop {
        private static final Serial ORDERS = new Serial();
        private static final QueueService SERVICE = new QueueService();
    }

    @Test
    void whatATaskInAQueueLeadsToIsKeptInTheFieldOfTheQueueAndWhatAMapHasIsNot() {
        Object queued = new Task("row");
        Object other = new Task("column");
        Object ownTask = new FutureTask<>(() -> "cell");
        Shop.ORDERS.waiting.tasks[0] = new Task(queued);
        Shop.ORDERS.waiting.tasks[1] = ownTask;
        Shop.ORDERS.known.put("other", other);
        Set<Object> wanted = Collections.newSetFromMap(new IdentityHashMap<>());
        wanted.addAll(List.of(queued, other, ownTask));
        Map<Object, Keeper> keepers = new HeapSearch("none.").keepers(List.of(Shop.class), List.of(), wanted);
        // The map's fields cannot be read here.
        assertEquals(List.of(Serial.class.getName() + ".waiting"), keepers.get(queued).queues());
        assertEquals(List.of(Serial.class.getName() + ".waiting"), keepers.get(ownTask).queues());
        assertEquals(2, keepers.size());
    }

    @Test
    void theResultOfAServiceForQueuesIsInNoQueueAndANodeThatLeadsToAnotherOneIs() {
        Set<Object> wanted = Collections.newSetFromMap(new IdentityHashMap<>());
        wanted.addAll(List.of(Shop.SERVICE.ready, Shop.SERVICE.first));
        Map<Object, Keeper> keepers = new HeapSearch("none.").keepers(List.of(Shop.class), List.of(), wanted);
        assertEquals(List.of(), keepers.get(Shop.SERVICE.ready).queues());
        assertEquals(List.of(Shop.class.getName() + ".SERVICE"), keepers.get(Shop.SERVICE.first).queues());
    }

    /** One of two event loops, each with its pending answers. */
    static final class Loop {
        private final Object[] pending = new Object[1];
        private Loop other;
    }

    @Test
    void whatTwoLoopsLeadToIsOfTheNearerOneAndWhatAStaticFieldHasIsOfNone() {
        Loop first = new Loop();
        Loop second = new Loop();
        first.other = second;
        Object ofFirst = new Task("row");
        Object ofSecond = new Task("column");
        first.pending[0] = ofFirst;
        second.pending[0] = ofSecond;
        Set<Object> wanted = Collections.newSetFromMap(new IdentityHashMap<>());
        wanted.addAll(List.of(ofFirst, ofSecond, Shop.SERVICE));
        Map<Object, Keeper> keepers = new HeapSearch("none.").keepers(List.of(Shop.class), List.of(first, second), wanted);
        String field = Loop.class.getName() + ".pending";
        assertEquals(new Keeper(List.of(), field, first), keepers.get(ofFirst));
        assertEquals(new Keeper(List.of(), field, second), keepers.get(ofSecond));
        assertEquals(Keeper.NONE, keepers.get(Shop.SERVICE));
    }
}
