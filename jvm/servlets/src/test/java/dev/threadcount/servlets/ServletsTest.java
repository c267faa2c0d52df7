package dev.threadcount.servlets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServletsTest {
    @Test
    void helloPageHasThePublishedSize() {
        assertEquals(387, HelloWorld.PAGE.getBytes(StandardCharsets.UTF_8).length);
        assertTrue(HelloWorld.PAGE.endsWith("</html>\n"));
    }

    @Test
    void sleepIsReadInMillisecondsUnlessItSaysSeconds() {
        assertEquals(Duration.ofMillis(50), Sleep.parse("50").duration());
        assertEquals(Duration.ofMillis(50), Sleep.parse("50ms").duration());
        assertEquals(Duration.ofSeconds(1), Sleep.parse("1s").duration());
        assertEquals(Duration.ZERO, Sleep.parse(null).duration());
    }

    @Test
    void sleepThatIsNoDurationIsRefusedWithWhatToWrite() {
        for (String wrong : new String[] {"", "-1", "5m", "1.5s", "9999999"}) {
            var refused = assertThrows(IllegalArgumentException.class, () -> Sleep.parse(wrong));
            assertEquals("sleep must be like 50, 50ms or 1s", refused.getMessage());
        }
    }

    @Test
    void sleepBlocksAtLeastAsLongAsItSays() throws InterruptedException {
        long before = System.nanoTime();
        Sleep.parse("5ms").blockThisThread();
        assertTrue(System.nanoTime() - before >= 5_000_000);
    }

    @Test
    void threadIsDescribedAsItIs() throws InterruptedException {
        var said = new String[2];
        Thread.ofVirtual().name("v-\"1\"").start(() -> said[0] = ThreadInfo.json(Thread.currentThread())).join();
        Thread.ofPlatform().name("p-1").start(() -> said[1] = ThreadInfo.json(Thread.currentThread())).join();
        assertTrue(said[0].startsWith("{\"thread\": \"v-\\\"1\\\"\", \"virtual\": true, \"java\": \""), said[0]);
        assertTrue(said[1].startsWith("{\"thread\": \"p-1\", \"virtual\": false, \"java\": \""), said[1]);
    }

    @Test
    void primesAreThoseOfTheTable() {
        var primes = IntStream.rangeClosed(0, 30).filter(Prime::isPrime).boxed().toList();
        assertEquals(List.of(2, 3, 5, 7, 11, 13, 17, 19, 23, 29), primes);
        assertEquals(78_498, IntStream.range(0, 1_000_000).filter(Prime::isPrime).count());
        assertTrue(Prime.isPrime(999_983));
    }

    @Test
    void numberComesFromTheEndOfThePath() {
        assertEquals(123_456, Prime.number("/123456"));
        for (String wrong : new String[] {null, "/", "/-1", "/1e5", "/1234567890", "/12/3"}) {
            assertThrows(IllegalArgumentException.class, () -> Prime.number(wrong), wrong);
        }
    }

    @Test
    void linesOfManyThreadsStayWhole(@TempDir Path folder) throws Exception {
        Path path = folder.resolve("lines.csv");
        try (var file = new CsvFile(path); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int thread = 0; thread < 200; thread++) {
                threads.submit(() -> {
                    file.append("a,b,c");
                    return null;
                });
            }
        }
        assertEquals(Collections.nCopies(200, "a,b,c"), Files.readAllLines(path));
    }
}
