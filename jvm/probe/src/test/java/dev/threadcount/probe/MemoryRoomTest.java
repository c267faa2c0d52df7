package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class MemoryRoomTest {
    @Test
    void thisJvmHasRoom() {
        assertNull(new MemoryRoom().lack());
    }

    @Test
    void poolThatIsNearlyFullIsNamedAndOneWithoutLimitIsNot() {
        assertEquals("the application has taken nearly all of its heap: 61 MiB of 64 MiB", MemoryRoom.lack("heap", 61L << 20, 64L << 20, 4L << 20));
        assertNull(MemoryRoom.lack("heap", 60L << 20, 64L << 20, 4L << 20));
        assertNull(MemoryRoom.lack("Metaspace", 60L << 20, -1, 4L << 20));
    }
}
