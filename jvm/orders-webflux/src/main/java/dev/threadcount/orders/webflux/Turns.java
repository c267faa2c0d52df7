package dev.threadcount.orders.webflux;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Runs slow operations one after the other, without a thread that waits. */
final class Turns {
    /** The operations in their order. The first one has its turn. */
    private final Queue<Sinks.Empty<Void>> turns = new ArrayDeque<>();

    /** Runs the work when all earlier work has ended. If it is cancelled while it waits, it only leaves the queue. */
    <T> Mono<T> after(Mono<T> work) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> turn = Sinks.empty();
            if (enqueue(turn)) {
                turn.tryEmitEmpty();
            }
            return turn.asMono().then(work).doFinally(signal -> nextAfter(turn).ifPresent(Sinks.Empty::tryEmitEmpty));
        });
    }

    /** Returns whether it has its turn at once. */
    private synchronized boolean enqueue(Sinks.Empty<Void> turn) {
        turns.add(turn);
        return turns.peek() == turn;
    }

    private synchronized Optional<Sinks.Empty<Void>> nextAfter(Sinks.Empty<Void> ended) {
        boolean hadItsTurn = turns.peek() == ended;
        turns.remove(ended);
        return hadItsTurn ? Optional.ofNullable(turns.peek()) : Optional.empty();
    }
}
