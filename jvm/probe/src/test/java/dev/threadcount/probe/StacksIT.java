package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.probe.ProbeIT.Java;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the samples of threads in real JVMs in which a known number of threads wait. */
class StacksIT {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @MethodSource("dev.threadcount.probe.ProbeIT#javas")
    void fewThreadsAreAllSeenWithWhoHoldsWhatTheyWaitFor(Java java) throws Exception {
        List<String> lines = run(java, 4, 5);
        String sample = lines.stream().filter(line -> line.startsWith("{\"type\":\"stacks\"")).toList().getLast();
        long last = number(sample, "sample");
        assertEquals(number(sample, "virtual_threads"), number(sample, "virtual_drawn"), sample);
        assertEquals(number(sample, "platform_threads"), number(sample, "platform_drawn"), sample);
        List<String> groups = lines.stream()
                .filter(line -> line.startsWith("{\"type\":\"stack_group\"") && number(line, "sample") == last).toList();
        assertEquals(4, count(groups, "semaphore", "\"resource\":\"java.util.concurrent.Semaphore\"", "WaitingThreads.takePermit"));
        assertEquals(WaitingThreads.FOR_THE_LOCK, count(groups, "lock", "WaitingThreads.takeLock:",
                "\"holder\":\"dev.threadcount.probe.WaitingThreads.sleep:"), groups.toString());
        assertEquals(WaitingThreads.FOR_THE_MONITOR, count(groups, "monitor", "WaitingThreads.takeMonitor:",
                "\"holder\":\"dev.threadcount.probe.WaitingThreads.sleep:"), groups.toString());
        assertEquals(WaitingThreads.IDLE_WORKERS, count(groups, "queue", "\"role\":\"worker\""), groups.toString());
    }

    /**
     * A sample draws about five threads from a part of a thousand, and some of the others. The JVM started half of the thousand, an
     * executor the other half.
     */
    @ParameterizedTest
    @MethodSource("dev.threadcount.probe.ProbeIT#javas")
    void manyThreadsAreEstimatedFromThoseThatWereDrawn(Java java) throws Exception {
        List<String> lines = run(java, 1_000, 40);
        Map<String, Double> waiting = new HashMap<>();
        Set<Long> estimates = new HashSet<>();
        int samples = 0;
        for (String sample : lines) {
            if (sample.startsWith("{\"type\":\"stacks\"") && number(sample, "virtual_threads") > 500) {
                long drawn = number(sample, "virtual_drawn");
                // They come from a part, which has more or fewer than its share.
                assertTrue(drawn >= 4 && drawn <= 100, sample);
                assertTrue(drawn + number(sample, "platform_drawn") >= 9, sample);
                long id = number(sample, "sample");
                List<String> groups = lines.stream().filter(line -> line.startsWith("{\"type\":\"stack_group\"")
                        && number(line, "sample") == id).toList();
                for (String place : List.of("takePermit:", "takePermitInATask:")) {
                    waiting.merge(place, (double) count(groups, "semaphore", place) * number(sample, "virtual_threads") / drawn, Double::sum);
                }
                estimates.add(number(sample, "virtual_threads"));
                samples++;
            }
        }
        double ofTheJvm = waiting.get("takePermit:") / samples;
        double ofTheExecutor = waiting.get("takePermitInATask:") / samples;
        assertEquals(1_000, ofTheJvm + ofTheExecutor, 50, samples + " samples");
        // Half of the 200 draws come from each, with a standard deviation of 35 of a thousand.
        assertEquals(500, ofTheJvm, 150, samples + " samples");
        // How many threads a part has is chance. If all were listed, the number would always be the same.
        assertTrue(estimates.size() > 3, estimates.toString());
    }

    /** No registered container has these threads. They are found through the thread that opened the scope. */
    @ParameterizedTest
    @MethodSource("dev.threadcount.probe.ProbeIT#javas")
    void threadsOfAScopeAreAllSeen(Java java) throws Exception {
        List<String> lines = run(java, 4, 5, "scope");
        long last = lines.stream().filter(line -> line.startsWith("{\"type\":\"stacks\"")).mapToLong(line -> number(line, "sample")).max()
                .orElseThrow();
        List<String> groups = lines.stream()
                .filter(line -> line.startsWith("{\"type\":\"stack_group\"") && number(line, "sample") == last).toList();
        assertEquals(4, count(groups, "semaphore", "WaitingThreads.takePermit:"), groups.toString());
    }

    private static long count(List<String> groups, String state, String... parts) {
        return groups.stream().filter(line -> line.contains("\"state\":\"" + state + "\""))
                .filter(line -> List.of(parts).stream().allMatch(line::contains))
                .mapToLong(line -> number(line, "count")).sum();
    }

    private List<String> run(Java java, int waiting, int samples, String... more) throws Exception {
        Path lines = folder.resolve("lines.jsonl");
        List<String> command = new ArrayList<>(List.of(java.home().resolve("bin/java").toString(),
                "-javaagent:" + Path.of("target", "probe.jar").toAbsolutePath() + "=out=file:" + lines,
                "--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path"), WaitingThreads.class.getName(),
                Integer.toString(waiting), Integer.toString(samples), lines.toString()));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("opened: false"), "java.lang is open to the program: " + output);
        return Files.readAllLines(lines);
    }

    private static long number(String line, String key) {
        Matcher found = Pattern.compile("\"" + key + "\":(-?\\d+)").matcher(line);
        assertTrue(found.find(), key + " is not in " + line);
        return Long.parseLong(found.group(1));
    }
}
