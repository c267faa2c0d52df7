package dev.threadcount.orders.quarkus.reactive;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.Cancellable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class TurnsTest {
    private final Turns turns = new Turns();
    private final List<String> begun = new ArrayList<>();

    @Test
    void oneBeginsWhenTheOneBeforeHasEndedHoweverItEnded() {
        var first = new CompletableFuture<Void>();
        var second = new CompletableFuture<Void>();
        begin("first", first);
        begin("second", second);
        begin("third", new CompletableFuture<>());
        assertEquals(List.of("first"), begun);
        first.complete(null);
        assertEquals(List.of("first", "second"), begun);
        second.completeExceptionally(new IllegalStateException("the database is gone"));
        assertEquals(List.of("first", "second", "third"), begun);
    }

    @Test
    void oneThatIsCancelledWhileItWaitsLetsNobodyInBesideTheFirst() {
        var first = new CompletableFuture<Void>();
        begin("first", first);
        Cancellable waiting = begin("second", new CompletableFuture<>());
        begin("third", new CompletableFuture<>());
        waiting.cancel();
        assertEquals(List.of("first"), begun);
        first.complete(null);
        assertEquals(List.of("first", "third"), begun);
    }

    @Test
    void oneThatIsCancelledInItsTurnGivesItOn() {
        Cancellable first = begin("first", new CompletableFuture<>());
        begin("second", new CompletableFuture<>());
        first.cancel();
        assertEquals(List.of("first", "second"), begun);
    }

    private Cancellable begin(String name, CompletableFuture<Void> end) {
        Uni<Void> work = Uni.createFrom().deferred(() -> {
            begun.add(name);
            return Uni.createFrom().completionStage(end);
        });
        return turns.after(work).subscribe().with(nothing -> {}, failed -> {});
    }
}
