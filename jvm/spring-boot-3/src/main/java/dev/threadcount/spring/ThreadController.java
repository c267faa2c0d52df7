package dev.threadcount.spring;

import static org.springframework.format.annotation.DurationFormat.Style.SIMPLE;

import dev.threadcount.threadinfo.ThreadInfo;
import java.time.Duration;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Answers that cost nothing to make, at once or after blocking the thread. */
@RestController
class ThreadController {
    @GetMapping("/hello")
    String hello() {
        return "Hello World!";
    }

    /** Blocks ({@code ?sleep=50ms}) and returns the name of the thread that handles the request, like the study's controller. */
    @GetMapping("/thread-info")
    String threadName(@RequestParam(name = "sleep", defaultValue = "0ms") @DurationFormat(style = SIMPLE) Duration sleep)
            throws InterruptedException {
        Thread.sleep(sleep);
        return Thread.currentThread().getName();
    }

    /** The same answer as JSON, for programs. */
    @GetMapping(path = "/thread-info", params = "format=json")
    ThreadInfo threadInfo(@RequestParam(name = "sleep", defaultValue = "0ms") @DurationFormat(style = SIMPLE) Duration sleep)
            throws InterruptedException {
        Thread.sleep(sleep);
        return ThreadInfo.ofThisThread();
    }
}
