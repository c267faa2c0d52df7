package dev.threadcount.orders.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class TurnsTest {
    private final Turns turns = new Turns();
    private final List<String> begun = new ArrayList<>();

    @Test
    void oneBeginsWhenTheOneBeforeHasEndedHoweverItEnded() {
        Sinks.Empty<Void> first = Sinks.empty();
        Sinks.Empty<Void> second = Sinks.empty();
        begin("first", first);
        begin("second", second);
        begin("third", Sinks.empty());
        assertEquals(List.of("first"), begun);
        first.tryEmitEmpty();
        assertEquals(List.of("first", "second"), begun);
        second.tryEmitError(new IllegalStateException("the database is gone"));
        assertEquals(List.of("first", "second", "third"), begun);
    }

    @Test
    void oneThatIsCancelledWhileItWaitsLetsNobodyInBesideTheFirst() {
        Sinks.Empty<Void> first = Sinks.empty();
        begin("first", first);
        Disposable waiting = begin("second", Sinks.empty());
        begin("third", Sinks.empty());
        waiting.dispose();
        assertEquals(List.of("first"), begun);
        first.tryEmitEmpty();
        assertEquals(List.of("first", "third"), begun);
    }

    @Test
    void oneThatIsCancelledInItsTurnGivesItOn() {
        Disposable first = begin("first", Sinks.empty());
        begin("second", Sinks.empty());
        first.dispose();
        assertEquals(List.of("first", "second"), begun);
    }

    private Disposable begin(String name, Sinks.Empty<Void> end) {
        Mono<Void> work = Mono.defer(() -> {
            begun.add(name);
            return end.asMono();
        });
        return turns.after(work).subscribe(nothing -> {}, failed -> {});
    }
}
