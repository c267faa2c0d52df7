package dev.threadcount.orders.quarkus.reactive;

import io.smallrye.mutiny.Uni;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/** Runs slow operations one after the other, without a thread that waits. */
final class Turns {
    /** The operations in their order. The first one has its turn. */
    private final Queue<CompletableFuture<Void>> turns = new ArrayDeque<>();

    /** Runs the work when all earlier work has ended. If it is cancelled while it waits, it only leaves the queue. */
    <T> Uni<T> after(Uni<T> work) {
        return Uni.createFrom().deferred(() -> {
            var turn = new CompletableFuture<Void>();
            if (enqueue(turn)) {
                turn.complete(null);
            }
            return Uni.createFrom()
                    .completionStage(turn)
                    .chain(() -> work)
                    .onTermination()
                    .invoke(() -> nextAfter(turn).ifPresent(next -> next.complete(null)));
        });
    }

    /** Returns whether it has its turn at once. */
    private synchronized boolean enqueue(CompletableFuture<Void> turn) {
        turns.add(turn);
        return turns.peek() == turn;
    }

    private synchronized Optional<CompletableFuture<Void>> nextAfter(CompletableFuture<Void> ended) {
        boolean hadItsTurn = turns.peek() == ended;
        turns.remove(ended);
        return hadItsTurn ? Optional.ofNullable(turns.peek()) : Optional.empty();
    }
}
