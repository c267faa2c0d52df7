package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProbeTest {
    @Test
    void optionsAreReadFromTheAgentsArgument() {
        Options options = Options.parse("out=unix:/tmp/s,level=locks,period_ms=200,pinned_ms=20,limit_ms=3000,jfr=/tmp/a.jfr,events=optional");
        assertEquals(new Options(new Options.Out(Path.of("/tmp/s"), true), Options.Level.LOCKS,
                Duration.ofMillis(200), Duration.ofMillis(20), Path.of("/tmp/a.jfr"), true, Duration.ofSeconds(3)), options);
    }

    @Test
    void wrongOptionIsNamedWithWhatToWrite() {
        assertRefused("outt=file:/tmp/a", "unknown key 'outt': there are out, level, period_ms, pinned_ms, limit_ms, jfr, events and jar");
        assertRefused("out=/tmp/a", "out must be file:PATH or unix:PATH, not '/tmp/a'");
        assertRefused("", "out=file:PATH or out=unix:PATH is missing");
        assertRefused("out=file:a,level=deep", "level must be light, locks or crossover, not 'deep'");
        assertRefused("out=file:a,period_ms=1s", "period_ms must be a whole number of milliseconds, not '1s'");
    }

    @Test
    void percentEncodedPathMayHoldCommasSpacesAndPlusSigns() {
        assertEquals(Path.of("/out, mine/a+b/c+d"),
                Options.parse("out=file:/out%2C%20mine/a%2Bb/c+d").out().path());
    }

    private static void assertRefused(String argument, String message) {
        assertEquals(message,
                assertThrows(IllegalArgumentException.class, () -> Options.parse(argument)).getMessage());
    }

    @Test
    void carrierIsFoundByTheBeginningOfItsNameOrWithoutItsMiddle() {
        String name = "ForkJoinPool-1-worker-12";
        for (String comm : List.of("ForkJoinPool-1-", "ForkJoi..ker-12")) {
            assertTrue(CarrierTasks.isKernelName(comm, name), comm);
        }
        for (String comm : List.of("ForkJoinPool-2-", "ForkJoi..ker-13", "http-ni..ker-12", "..ker-12", "ForkJoinPool")) {
            assertFalse(CarrierTasks.isKernelName(comm, name), comm);
        }
        assertTrue(CarrierTasks.isKernelName("carrier-1", "carrier-1"));
        assertFalse(CarrierTasks.isKernelName("carrier-1", "carrier-11"));
    }

    @Test
    void classesAreNamedAsInTheSource() {
        assertEquals("byte[]", Allocations.readable("[B"));
        assertEquals("java.lang.Object[][]", Allocations.readable("[[Ljava.lang.Object;"));
        assertEquals("shop.Cart", Allocations.readable("shop.Cart"));
    }

    @Test
    void lineIsJsonWhateverTheTextsHold() {
        String line = JsonLine.of("t", 7).put("a", "q\"b\\n\n\u0001").put("b", (String) null).put("c", Double.NaN)
                .put("d", 1.5).put("e", true).end();
        assertEquals("{\"type\":\"t\",\"t_ns\":7,\"a\":\"q\\\"b\\\\n\\n\\u0001\",\"b\":null,\"c\":null,"
                + "\"d\":1.5,\"e\":true}\n", line);
    }

    @Test
    void eventThatSpansSecondsIsCountedOnceAndItsTimeIsSpread(@TempDir Path folder) throws IOException {
        Tally tally = new Tally();
        tally.add("pinned", new Site("h", "a", "t"), "r", 900_000_000L, 2_100_000_000L);
        Path file = folder.resolve("lines");
        try (Output output = Output.open(new Options.Out(file, false))) {
            tally.writeTo(output);
        }
        List<String> lines = Files.readAllLines(file);
        assertEquals(3, lines.size());
        assertTrue(lines.get(0).contains("\"t_ns\":0,\"count\":0,\"total_ns\":100000000,\"longest_ns\":0"));
        assertTrue(lines.get(1).contains("\"t_ns\":1000000000,\"count\":0,\"total_ns\":1000000000"));
        assertTrue(lines.get(2).contains(
                "\"t_ns\":2000000000,\"count\":1,\"total_ns\":100000000,\"longest_ns\":1200000000"));
    }

    @Test
    void wallClockTimesBecomeTheMonotonicClock() {
        Clock clock = new Clock();
        long before = System.nanoTime();
        long converted = clock.monotonicNs(Instant.now());
        assertTrue(Math.abs(converted - before) < 10_000_000_000L, "off by " + (converted - before) + " ns");
        assertEquals(2_000_000_000L,
                clock.monotonicNs(Instant.ofEpochSecond(12)) - clock.monotonicNs(Instant.ofEpochSecond(10)));
    }

    @Test
    void synchronizedBlockIsFoundInTheClassFileWithEarlyReturnsAndNesting() throws IOException {
        MonitorScan scan = scan(Blocks.class);
        assertTrue(holdsAnywhere(scan, "block", "()I"));
        assertTrue(holdsAnywhere(scan, "withEarlyReturn", "(I)I"));
        assertFalse(holdsAnywhere(scan, "withFinallyOnly", "()I"));
        assertFalse(holdsAnywhere(scan, "plain", "()I"));
        assertFalse(scan.holdsMonitor("block", "()I", 0), "the monitor is not held before it is entered");
    }

    private static boolean holdsAnywhere(MonitorScan scan, String method, String descriptor) {
        for (int index = 0; index < 60; index++) {
            if (scan.holdsMonitor(method, descriptor, index)) {
                return true;
            }
        }
        return false;
    }

    private static MonitorScan scan(Class<?> type) throws IOException {
        try (InputStream in = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            return MonitorScan.of(in);
        }
    }

    /** A class with methods that the test scans. */
    @SuppressWarnings("unused")
    private static final class Blocks {
        private int field;

        int block() {
            synchronized (this) {
                return field++;
            }
        }

        int withEarlyReturn(int n) {
            synchronized (this) {
                if (n > 0) {
                    return n;
                }
                field++;
            }
            return field;
        }

        int withFinallyOnly() {
            try {
                return plain();
            } finally {
                field++;
            }
        }

        int plain() {
            return field;
        }
    }
}
