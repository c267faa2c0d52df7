package dev.threadcount.probe;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Checks whether there is room to write. JFR ends the JVM when it cannot write its files, and our lines must not fill a file system. */
final class RecordingSpace {
    /** The free bytes that a recording needs, with a margin for other processes and for the buffers that JFR writes at the end. */
    static final long BEGIN_BYTES = 48L << 20;
    static final long GO_ON_BYTES = 24L << 20;
    /** The bytes that are written on trial, because no figure of the kernel shows how much a quota leaves. */
    private static final int TRIAL_BYTES = 8 << 20;
    private static final int TRIAL_EVERY_CHECKS = 4;
    private static final int TRIAL_BUFFER_BYTES = 64 << 10;
    /** The number of files on trial: the folder of a recording, a chunk, and the next chunk. */
    private static final int TRIAL_FILES = 3;
    /** The file system in memory. Its files take memory at once, and it has no quota that its free bytes do not show. */
    private static final String MEMORY_FILE_SYSTEM = "tmpfs";

    private static final String REPOSITORY = "repository=";

    private final Path folder;
    private final long keptBytes;
    /** The folder with our lines. Null if they go to a socket. */
    private final Path lines;
    private int checks;

    /**
     * @param folder where JFR writes
     * @param keptBytes the largest size that a recording keeps there
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
     * The folder in which JFR makes its own.
     *
     * @param repository the folder of the last recording's files; null before there was one
     * @param startOptions {@code -XX:FlightRecorderOptions}, which set the folder before the first recording
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

    /** Why no recording may begin, or null if one may. */
    String lackToBegin() {
        String lack = lackOfJfr(BEGIN_BYTES + keptBytes, true);
        return lack == null ? lackOfLines(BEGIN_BYTES) : lack;
    }

    /** Why a recording has to end, or null if it may continue. */
    String lackToGoOn() {
        return lackOfJfr(GO_ON_BYTES, checks++ % TRIAL_EVERY_CHECKS == 0);
    }

    /** Why no more lines may be written. Null if they may, or go to a socket. */
    String lackOfLines(long neededBytes) {
        String lack = lines == null ? null : lackOfSpace(lines, neededBytes);
        return lack == null ? null : "the lines of the probe go to " + lines + ": " + lack;
    }

    private String lackOfJfr(long neededBytes, boolean tries) {
        String lack = lackOfSpace(folder, neededBytes);
        lack = lack == null ? FileSizeLimit.lack(largestChunkBytes() + neededBytes) : lack;
        lack = lack == null && tries ? lackInTrial() : lack;
        return lack == null ? null : "JFR would end the JVM when it cannot write to " + folder + ": " + lack
                + ", or start the JVM with another java.io.tmpdir";
    }

    private static String lackOfSpace(Path folder, long neededBytes) {
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

    /** The size of JFR's current chunk, which may grow beyond its usual 12 MiB ({@code maxchunksize}). 0 if there is none. */
    private static long largestChunkBytes() {
        String repository = System.getProperty("jdk.jfr.repository");
        if (repository == null) {
            return 0;
        }
        try (Stream<Path> chunks = Files.list(Path.of(repository))) {
            return chunks.mapToLong(chunk -> chunk.toFile().length()).max().orElse(0);
        } catch (IOException gone) {
            return 0;
        }
    }

    /**
     * Does on trial what a recording will do: makes files and writes. The files have no name while they are written, so that none stays.
     */
    private String lackInTrial() {
        List<FileChannel> files = new ArrayList<>();
        try {
            int bytes = isInMemory(folder) ? TRIAL_BUFFER_BYTES : TRIAL_BYTES;
            for (int number = 0; number < TRIAL_FILES; number++) {
                Path file = folder.resolve("threadcount-trial-" + System.nanoTime());
                files.add(FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
                Files.delete(file);
            }
            ByteBuffer buffer = ByteBuffer.allocate(TRIAL_BUFFER_BYTES);
            for (int written = 0; written < bytes; ) {
                buffer.clear();
                written += files.getFirst().write(buffer);
            }
            return null;
        } catch (IOException refused) {
            return "a trial failed (" + refused.getMessage() + "); free space, files (inodes) or quota";
        } finally {
            files.forEach(RecordingSpace::close);
        }
    }

    private static boolean isInMemory(Path folder) {
        try {
            return Files.getFileStore(folder).type().equals(MEMORY_FILE_SYSTEM);
        } catch (IOException unknownMount) {
            return false;
        }
    }

    private static void close(FileChannel file) {
        try {
            file.close();
        } catch (IOException ignored) {
            // The file has no name, and disappears with its channel.
        }
    }
}
