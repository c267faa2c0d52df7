package dev.threadcount.servlets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

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
}
