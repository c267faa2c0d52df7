package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class FileIoTest {
    @Test
    void filesHaveTheirPathUntilThereAreTooMany() {
        FileIo files = new FileIo();
        for (int file = 0; file < 50; file++) {
            assertEquals("/data/" + file, files.known("/data/" + file));
        }
        assertEquals("other files", files.known("/data/50"));
        assertEquals("/data/7", files.known("/data/7"));
        assertEquals("a file", files.known(null));
    }
}
