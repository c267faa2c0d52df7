package dev.threadcount.probe;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Whether there is room to write: JFR ends the JVM when it cannot write its files, and our lines must not fill a file system. */
final class RecordingSpace {
    /** With a margin for what other processes write meanwhile, and for the buffers that JFR writes when a recording ends. */
    static final long BEGIN_BYTES = 48L << 20;
    static final long GO_ON_BYTES = 24L << 20;

    private static final String REPOSITORY = "repository=";

    private final Path folder;
    private final long keptBytes;
    /** Where our lines go; null where that is a socket. */
    private final Path lines;

    /**
     * @param folder where JFR writes
     * @param keptBytes the most that a recording keeps there
     * @param lines the folder of the file with our lines; null for none
     */
    RecordingSpace(Path folder, long keptBytes, Path lines) {
        this.folder = folder;
        this.keptBytes = keptBytes;
        this.lines = lines;
    }

    static RecordingSpace find(Options options) {
        Options.Out out = options.out();
        Path lines = out.socket() ? null : out.path().toAbsolutePath().getParent();
        return new RecordingSpace(folderOfJfr(), options.recording() == null ? 0 : Recording.KEPT_BYTES, lines);
    }

    private static Path folderOfJfr() {
        String tmp = System.getProperty("java.io.tmpdir");
        return folderOfJfr(System.getProperty("jdk.jfr.repository"), startOptions(), tmp).toAbsolutePath();
    }

    /**
     * @param repository the folder of the last recording's files, in the one that is looked for; null before there was one
     * @param startOptions {@code -XX:FlightRecorderOptions}, which choose it until then
     */
    static Path folderOfJfr(String repository, String startOptions, String tmp) {
        Path parent = repository == null ? null : Path.of(repository).getParent();
        if (parent != null) {
            return parent;
        }
        return Path.of(Stream.of(startOptions.replace("\"", "").split(",")).filter(option -> option.startsWith(REPOSITORY))
                .map(option -> option.substring(REPOSITORY.length())).findFirst().orElse(tmp));
    }

    private static String startOptions() {
        try {
            return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).getVMOption("FlightRecorderOptions").getValue();
        } catch (IllegalArgumentException another) {
            return "";
        }
    }

    /** Why no recording may begin; null where one may. */
    String lackToBegin() {
        return lack(BEGIN_BYTES + keptBytes, BEGIN_BYTES);
    }

    /** Why a recording has to end; null where it may go on. */
    String lackToGoOn() {
        return lack(GO_ON_BYTES, GO_ON_BYTES);
    }

    private String lack(long jfrBytes, long linesBytes) {
        String lack = lack(folder, jfrBytes);
        if (lack != null) {
            return "JFR would end the JVM when it cannot write to " + folder + ": " + lack
                    + ", or start the JVM with another java.io.tmpdir";
        }
        lack = lines == null ? null : lack(lines, linesBytes);
        return lack == null ? null : "the lines of the probe go to " + lines + ": " + lack;
    }

    private static String lack(Path folder, long neededBytes) {
        if (!Files.isDirectory(folder)) {
            return "it is not a folder; make it";
        }
        if (!Files.isWritable(folder)) {
            return "it is not writable; make it writable";
        }
        long freeBytes = folder.toFile().getUsableSpace();
        return freeBytes >= neededBytes ? null
                : (freeBytes >> 20) + " MiB are free and " + (neededBytes >> 20) + " MiB are needed; free some";
    }
}
