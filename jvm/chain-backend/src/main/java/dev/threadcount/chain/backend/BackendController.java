package dev.threadcount.chain.backend;

import dev.threadcount.threadinfo.ThreadInfo;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

/**
 * Answers three questions, each of which needs the previous answer: who are you, what is your role, what may it do? Each answer comes after
 * {@code delay}, without a thread that waits for it.
 */
@RestController
class BackendController {
    private final Duration delay;

    BackendController(@Value("${delay:300ms}") Duration delay) {
        this.delay = delay;
    }

    @GetMapping("/authentication")
    Mono<String> authentication() {
        return late(() -> UUID.randomUUID().toString());
    }

    /** Half of all tokens belong to an admin. */
    @GetMapping("/authorization/{token}")
    Mono<String> authorization(@PathVariable(name = "token") UUID token) {
        return late(() -> token.getLeastSignificantBits() % 2 == 0 ? "admin" : "user");
    }

    @GetMapping("/capabilities/{role}")
    Mono<String> capabilities(@PathVariable(name = "role") String role) {
        return late(() -> switch (role) {
            case "admin" -> "read, write";
            case "user" -> "read";
            default -> throw new ResponseStatusException(HttpStatus.NOT_FOUND, "the roles are admin and user");
        });
    }

    @GetMapping("/thread-info")
    ThreadInfo threadInfo() {
        return ThreadInfo.ofThisThread();
    }

    private <T> Mono<T> late(Supplier<T> answer) {
        return Mono.delay(delay).map(done -> answer.get());
    }
}
