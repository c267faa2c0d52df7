package dev.threadcount.chain.servlet;

import dev.threadcount.chain.client.BackendClient;
import dev.threadcount.threadinfo.ThreadInfo;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Makes three calls, one after the other. Each of them blocks the thread. */
@RestController
class ChainController {
    private final BackendClient backend;

    ChainController(BackendClient backend) {
        this.backend = backend;
    }

    @GetMapping("/capabilities")
    String capabilities() {
        String token = backend.authentication().block();
        String role = backend.authorization(token).block();
        return backend.capabilities(role).block();
    }

    @GetMapping("/thread-info")
    ThreadInfo threadInfo() {
        return ThreadInfo.ofThisThread();
    }
}
