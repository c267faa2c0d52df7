package dev.threadcount.orders.quarkus.reactive;

import io.smallrye.mutiny.Uni;
import java.util.concurrent.CompletableFuture;

/** Lets one after the other do something that takes time, without a thread that waits. */
final class Turns {
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    /** What is done when all that came before has ended. */
    <T> Uni<T> after(Uni<T> work) {
        return Uni.createFrom().deferred(() -> {
            var ended = new CompletableFuture<Void>();
            CompletableFuture<Void> before = replace(ended);
            return Uni.createFrom().completionStage(before).chain(() -> work).onTermination().invoke(() -> ended.complete(null));
        });
    }

    private synchronized CompletableFuture<Void> replace(CompletableFuture<Void> next) {
        CompletableFuture<Void> before = last;
        last = next;
        return before;
    }
}
