package dev.threadcount.chain.webflux;

import dev.threadcount.chain.client.BackendClient;
import dev.threadcount.threadinfo.ThreadInfo;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Makes three calls, each when the previous response is complete. */
@RestController
class ChainController {
    private final BackendClient backend;

    ChainController(BackendClient backend) {
        this.backend = backend;
    }

    @GetMapping("/capabilities")
    Mono<String> capabilities() {
        return backend.authentication().flatMap(backend::authorization).flatMap(backend::capabilities);
    }

    @GetMapping("/thread-info")
    ThreadInfo threadInfo() {
        return ThreadInfo.ofThisThread();
    }
}
