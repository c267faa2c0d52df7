package dev.threadcount.orders.webflux;

import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Lets one after the other do something that takes time, without a thread that waits. */
final class Turns {
    private Mono<Void> last = Mono.empty();

    /** What is done when all that came before has ended. */
    <T> Mono<T> after(Mono<T> work) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> ended = Sinks.empty();
            Mono<Void> before = replace(ended.asMono());
            return before.then(work).doFinally(signal -> ended.tryEmitEmpty());
        });
    }

    private synchronized Mono<Void> replace(Mono<Void> next) {
        Mono<Void> before = last;
        last = next;
        return before;
    }
}
