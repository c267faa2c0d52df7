package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.Configuration;
import jdk.jfr.FlightRecorder;
import jdk.jfr.RecordingState;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;

/** The flight recorder's events as lines: collections, safepoints, pins, file access, native memory. */
final class Recording implements Closeable {
    /** The period of code samples. A sample of the running threads takes some 60 µs of one core, and each event is a stack to parse. */
    private static final Duration CODE_PERIOD = Duration.ofMillis(50);
    /** The period of samples that only show whether threads make progress. */
    private static final Duration PROGRESS_PERIOD = Duration.ofMillis(200);
    /** The period of samples by the CPU time of each thread (JEP 509). */
    private static final String CPU_TIME_PERIOD = "60ms";
    /** The limit for allocation samples. Each costs its thread a walk down the stack; the JDK's own default is 150. */
    private static final String ALLOCATION_SAMPLES = "20/s";
    private static final Duration NATIVE_MEMORY_PERIOD = Duration.ofSeconds(1);
    /** The size that a stream keeps. Without a limit it forgets what has been read, and there would be nothing to keep. */
    static final long KEPT_BYTES = 256L << 20;
    /**
     * The events that contain passwords, which a recording must not contain because it is passed on: the environment, system properties and
     * arguments of the JVM ({@code -D} in JAVA_TOOL_OPTIONS is in both), and the command lines of all processes of the machine.
     */
    private static final List<String> SECRETS = List.of("jdk.InitialEnvironmentVariable", "jdk.InitialSystemProperty",
            "jdk.JVMInformation", "jdk.SystemProcess");
    private static final String ENDED_BY_OTHERS = "the recording was ended by somebody else";
    private static final Site NOWHERE = new Site(null, null, null);
    private static final Duration MARK_PERIOD = Duration.ofMillis(500);

    private final RecordingStream stream;
    private final Output output;
    private final Clock clock;
    private final Monitors monitors;
    private final JvmAccess jvm;
    private final Tally tally = new Tally();
    private final FileIo files = new FileIo();
    private final Allocations allocations = new Allocations();
    private final CpuStacks cpuStacks;
    private final Safepoints safepoints = new Safepoints((beginNs, endNs) -> tally.add("safepoint", NOWHERE, null, beginNs, endNs));
    private long eventsUntilNs;
    /** The recording that the stream reads. Null if another recording began at the same moment. */
    private final jdk.jfr.Recording recorded;
    /** Whether nobody else recorded when this began. */
    private final boolean alone;
    private volatile boolean closed;
    /** Why there are no more events. Null while there are, and after {@link #close}. */
    private volatile String whyEnded;

    /** @param jvm null if this JVM does not show its internals */
    Recording(Options options, Output output, Clock clock, Monitors monitors, JvmAccess jvm) {
        this.jvm = jvm;
        this.output = output;
        this.clock = clock;
        this.monitors = monitors;
        List<jdk.jfr.Recording> others = FlightRecorder.isInitialized() ? FlightRecorder.getFlightRecorder().getRecordings() : List.of();
        alone = others.isEmpty();
        StackDepth.deepen();
        stream = options.recording() == null ? new RecordingStream() : recordingToKeep();
        recorded = theOneBeside(others);
        // Each event has its own time. To put them in order, the stream would keep all events of a second.
        stream.setOrdered(false);
        watchCollections();
        watchHeapAfterCollections();
        watchSafepoints();
        cpuStacks = watchRunningThreads();
        watchPins(options.pinnedThreshold());
        watchFileIo();
        watchAllocations();
        watchNativeMemory();
        markTime();
        stream.onFlush(this::flush);
    }

    /** A recording with the events that JDK Mission Control uses: the JDK's default settings without {@link #SECRETS}. */
    private static RecordingStream recordingToKeep() {
        try {
            RecordingStream stream = new RecordingStream(Configuration.getConfiguration("default"));
            stream.setMaxSize(KEPT_BYTES);
            SECRETS.forEach(stream::disable);
            return stream;
        } catch (IOException | ParseException broken) {
            throw new IllegalStateException("this JDK has no lib/jfr/default.jfc: " + broken.getMessage(), broken);
        }
    }

    /** Follows the events on a daemon thread. The stream's own thread would keep the JVM from ending (Java 21). */
    void start() {
        OwnThreads.start("-events", this::followEvents);
    }

    private static jdk.jfr.Recording theOneBeside(List<jdk.jfr.Recording> others) {
        List<jdk.jfr.Recording> all = new ArrayList<>(FlightRecorder.getFlightRecorder().getRecordings());
        all.removeAll(others);
        return all.size() == 1 ? all.getFirst() : null;
    }

    /** JFR continues after an exception in a handler of an event, but ends the stream after an error. */
    private void followEvents() {
        String why = ENDED_BY_OTHERS;
        try {
            stream.start();
        } catch (RuntimeException | Error failed) {
            why = "the recording ended: " + failed;
        }
        if (!closed && !isShuttingDown()) {
            whyEnded = why;
        }
    }

    /** Whether the JVM shuts down, because JFR then ends all recordings. */
    private static boolean isShuttingDown() {
        Thread never = new Thread();
        try {
            Runtime.getRuntime().addShutdownHook(never);
            Runtime.getRuntime().removeShutdownHook(never);
            return false;
        } catch (IllegalStateException shuttingDown) {
            return true;
        }
    }

    /** Why there are no more events although nobody has closed this, or null. */
    String whyEnded() {
        // If a recording was stopped and closed (jcmd JFR.stop), a stream waits forever for more.
        boolean isGone = recorded != null && recorded.getState().compareTo(RecordingState.RUNNING) > 0;
        return whyEnded == null && isGone && !isShuttingDown() ? ENDED_BY_OTHERS : whyEnded;
    }

    /** Keeps what was recorded for JDK Mission Control. */
    void keep(Path file) throws IOException {
        stream.dump(file);
    }

    @Override
    public void close() {
        closed = true;
        stream.close();
        removeEmptyFolder();
    }

    /**
     * Removes the folder that the flight recorder made in java.io.tmpdir, which would otherwise stay until the JVM
     * ends. The recorder makes a new folder for the next recording. But if the folder disappears between its check and
     * its first file, it ends the JVM, so no recording may start meanwhile. A folder that is not empty stays.
     */
    private void removeEmptyFolder() {
        String folder = System.getProperty("jdk.jfr.repository");
        Object monitor = folder == null || !alone || jvm == null ? null : jvm.recorderMonitor();
        if (monitor == null) {
            return;
        }
        synchronized (monitor) {
            if (FlightRecorder.getFlightRecorder().getRecordings().isEmpty()) {
                remove(Path.of(folder));
            }
        }
    }

    private static void remove(Path folder) {
        try {
            Files.deleteIfExists(folder);
        } catch (IOException | RuntimeException inUse) {
            // The folder contains files, or is not ours.
        }
    }

    private void watchCollections() {
        stream.enable("jdk.GarbageCollection").withoutThreshold();
        stream.onEvent("jdk.GarbageCollection", event -> output.write(JsonLine.of("gc", startNs(event))
                .put("duration_ns", event.getDuration().toNanos())
                .put("pauses_ns", event.getDuration("sumOfPauses").toNanos())
                .put("longest_pause_ns", event.getDuration("longestPause").toNanos())
                .put("name", event.getString("name"))
                .put("cause", event.getString("cause"))
                .put("gc_id", event.getLong("gcId"))));
        stream.enable("jdk.GCPhasePause").withoutThreshold();
        stream.onEvent("jdk.GCPhasePause", event -> output.write(JsonLine.of("gc_pause", startNs(event))
                .put("duration_ns", event.getDuration().toNanos())
                .put("name", event.getString("name"))
                .put("gc_id", event.getLong("gcId"))));
    }

    private void watchHeapAfterCollections() {
        stream.enable("jdk.GCHeapSummary");
        stream.onEvent("jdk.GCHeapSummary", event -> {
            if (event.getString("when").equals("After GC")) {
                output.write(JsonLine.of("heap_after_gc", startNs(event))
                        .put("used_bytes", event.getLong("heapUsed"))
                        .put("gc_id", event.getLong("gcId")));
            }
        });
    }

    /**
     * Watches whether running threads make progress, and which code runs. CPU-time samples (Java 25 and later on Linux)
     * include code in native methods, and no thread that only waits. But of a thread that yields all the time, hardly
     * any has a stack. Code comes from one source only.
     */
    private CpuStacks watchRunningThreads() {
        boolean hasCpuTime = hasEvent("jdk.CPUTimeSample");
        stream.enable("jdk.ExecutionSample").withPeriod(hasCpuTime ? PROGRESS_PERIOD : CODE_PERIOD);
        stream.onEvent("jdk.ExecutionSample", event -> {
            addProgress(event);
            if (!hasCpuTime) {
                cpuStacks.add(event, event.getThread("sampledThread"), startNs(event));
            }
        });
        if (!hasCpuTime) {
            return new CpuStacks("execution");
        }
        stream.enable("jdk.CPUTimeSample").with("throttle", CPU_TIME_PERIOD);
        stream.onEvent("jdk.CPUTimeSample", event -> cpuStacks.add(event, event.getThread("eventThread"), startNs(event)));
        return new CpuStacks("cpu-time");
    }

    private static boolean hasEvent(String name) {
        return FlightRecorder.getFlightRecorder().getEventTypes().stream().anyMatch(type -> type.getName().equals(name));
    }

    /** Adds a sample, with a site only if the thread yields. Other running threads have too many sites. */
    private void addProgress(RecordedEvent sample) {
        String lack = Progress.lack(sample.getStackTrace());
        Site site = "yield".equals(lack) ? siteOfYield(sample) : NOWHERE;
        tally.add("running", site, lack, startNs(sample), startNs(sample));
    }

    private void watchSafepoints() {
        stream.enable("jdk.SafepointBegin").withoutThreshold();
        stream.enable("jdk.SafepointEnd").withoutThreshold();
        stream.onEvent("jdk.SafepointBegin", event -> safepoints.addEnd(event.getLong("safepointId"), startNs(event)));
        stream.onEvent("jdk.SafepointEnd", event -> safepoints.addEnd(event.getLong("safepointId"), endNs(event)));
    }

    private void watchPins(Duration threshold) {
        stream.enable("jdk.VirtualThreadPinned").withThreshold(threshold).withStackTrace();
        stream.onEvent("jdk.VirtualThreadPinned", event -> {
            // Java 24 and later report the reason. Before, there is only the frame that holds the carrier.
            String reason = event.hasField("pinnedReason") ? event.getString("pinnedReason") : null;
            tally.add("pinned", site(event), reason, startNs(event), endNs(event));
        });
    }

    /** Watches file access. Each read and write costs two readings of the clock, but few requests read many files. */
    private void watchFileIo() {
        for (String kind : FileIo.KINDS) {
            stream.enable("jdk." + kind).withThreshold(FileIo.THRESHOLD).withStackTrace().with("throttle", "off");
            stream.onEvent("jdk." + kind, event -> {
                if (FileIo.blocksCarrier(event)) {
                    tally.add("file_io", FileIo.site(event.getStackTrace()), files.what(kind, event), startNs(event), endNs(event));
                }
            });
        }
    }

    /** Enables a periodic event, which shows how far the stream has been read even if there are no others. */
    private void markTime() {
        stream.enable("jdk.JavaThreadStatistics").withPeriod(MARK_PERIOD);
        stream.onEvent("jdk.JavaThreadStatistics", event -> eventsUntilNs = Math.max(eventsUntilNs, endNs(event)));
    }

    /** Watches allocations. The JVM takes a sample only when a thread needs new memory anyway, and not more samples than this limit. */
    private void watchAllocations() {
        stream.enable("jdk.ObjectAllocationSample").withStackTrace().with("throttle", ALLOCATION_SAMPLES);
        stream.onEvent("jdk.ObjectAllocationSample", event -> allocations.add(event, startNs(event)));
    }

    private void watchNativeMemory() {
        stream.enable("jdk.NativeMemoryUsage").withPeriod(NATIVE_MEMORY_PERIOD);
        stream.onEvent("jdk.NativeMemoryUsage", event -> {
            String kind = event.getString("type");
            if (kind.equals("Thread Stack") || kind.equals("Java Heap") || kind.equals("Thread")) {
                output.write(JsonLine.of("native_memory", startNs(event))
                        .put("kind", kind)
                        .put("reserved_bytes", event.getLong("reserved"))
                        .put("committed_bytes", event.getLong("committed")));
            }
        });
    }

    private void flush() {
        tally.writeTo(output);
        allocations.writeTo(output);
        cpuStacks.writeTo(output);
        output.write(JsonLine.of("events_until", System.nanoTime()).put("events_until_ns", eventsUntilNs));
        output.flush();
    }

    /** The site of a thread that yields. Its place in the scheduler is chance and left out. */
    private Site siteOfYield(RecordedEvent event) {
        return new Site(null, site(event).application(), null);
    }

    private Site site(RecordedEvent event) {
        return Site.of(event.getStackTrace(), monitors);
    }

    private long startNs(RecordedEvent event) {
        return clock.monotonicNs(event.getStartTime());
    }

    private long endNs(RecordedEvent event) {
        return clock.monotonicNs(event.getEndTime());
    }
}
