package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SafepointsTest {
    private final List<String> stops = new ArrayList<>();
    private final Safepoints safepoints = new Safepoints((beginNs, endNs) -> stops.add(beginNs + " to " + endNs));

    @Test
    void anEndThatComesBeforeItsBeginningBelongsToIt() {
        safepoints.addEnd(7, 30);
        safepoints.addEnd(8, 40);
        safepoints.addEnd(7, 10);
        safepoints.addEnd(8, 45);
        assertEquals(List.of("10 to 30", "40 to 45"), stops);
    }

    @Test
    void halvesWhoseOtherHalfNeverComesAreForgotten() {
        for (int id = 0; id < 200; id++) {
            safepoints.addEnd(id, id);
        }
        safepoints.addEnd(0, 1_000);
        safepoints.addEnd(199, 1_000);
        assertEquals(List.of("199 to 1000"), stops);
    }
}
