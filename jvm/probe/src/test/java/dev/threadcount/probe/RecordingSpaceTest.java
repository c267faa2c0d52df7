package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingSpaceTest {
    @TempDir
    private Path folder;

    @Test
    void folderWithRoomLacksNothing() {
        RecordingSpace space = new RecordingSpace(folder, 0, folder);
        assertNull(space.lackToBegin());
        assertNull(space.lackToGoOn());
    }

    @Test
    void missingFolderIsNamedWithWhatToDo() {
        Path missing = folder.resolve("missing");
        assertEquals("JFR would end the JVM when it cannot write to " + missing
                + ": it is not a folder; make it, or start the JVM with another java.io.tmpdir",
                new RecordingSpace(missing, 0, null).lackToBegin());
        assertEquals("the lines of the probe go to " + missing + ": it is not a folder; make it",
                new RecordingSpace(folder, 0, missing).lackOfLines(1));
    }

    /** No disk has room for what this space keeps. */
    @Test
    void fullFolderIsNamedWithWhatIsFreeAndNeededToBeginAndNotToGoOn() {
        RecordingSpace space = new RecordingSpace(folder, 1L << 60, null);
        String lack = space.lackToBegin();
        assertTrue(lack.matches(".* cannot write to " + folder + ": \\d+ MiB are free and 1099511627824 MiB are needed; free some, "
                + "or start the JVM with another java\\.io\\.tmpdir"), lack);
        assertNull(space.lackToGoOn());
    }

    @Test
    void fileOfLinesIsLookedAtAndSocketIsNot() {
        Path missing = folder.resolve("missing");
        RecordingSpace file = RecordingSpace.find(Options.parse("out=file:" + missing.resolve("lines")));
        assertTrue(file.lackToBegin().startsWith("the lines of the probe go to " + missing), file.lackToBegin());
        assertNull(RecordingSpace.find(Options.parse("out=unix:" + missing.resolve("socket"))).lackToBegin());
    }

    @Test
    void fileOfTheTrialIsNotLeftBehind() throws IOException {
        assertNull(new RecordingSpace(folder, 0, null).lackToGoOn());
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(0, left.count());
        }
    }

    @Test
    void limitOfFileSizesLeavesRoomForAChunkOrIsNamed() {
        String limits = "Limit                     Soft Limit           Hard Limit           Units     \n"
                + "Max file size             1048576              unlimited            bytes     \n";
        assertNull(FileSizeLimit.lack(limits, 1 << 20));
        assertEquals("a file of this JVM may have 1 MiB and 48 MiB are needed; raise `ulimit -f` (`prlimit --pid PID --fsize=unlimited:`)",
                FileSizeLimit.lack(limits, 48 << 20));
        assertNull(FileSizeLimit.lack("Max file size             unlimited            unlimited            bytes     \n", 48 << 20));
    }

    @Test
    void folderIsThatOfTheLastRecordingOrOfTheOptionOrTheTemporaryOne() {
        String option = "stackdepth=64,repository=/data/jfr";
        assertEquals(Path.of("/var/jfr"), RecordingSpace.folderOfJfr("/var/jfr/2026_11_25_07_52_11_4711", option, "/tmp"));
        assertEquals(Path.of("/data/jfr"), RecordingSpace.folderOfJfr(null, option, "/tmp"));
        assertEquals(Path.of("/tmp"), RecordingSpace.folderOfJfr(null, "", "/tmp"));
    }
}
