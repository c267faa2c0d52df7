package dev.threadcount.probe.crossover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TreatmentTest {
    @ParameterizedTest
    @ValueSource(strings = {"own", "virtual", "virtual-64", "platform-200", "platform-10000"})
    void nameIsReadAndWritten(String name) {
        assertEquals(name, Treatment.parse(name).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "platform", "platform-0", "platform-10001", "virtual-", "virtual--1", "OWN", "virtual-1000000"})
    void otherTextIsRefusedWithASentence(String text) {
        assertThrows(IllegalArgumentException.class, () -> Treatment.parse(text));
    }

    @Test
    void errorNamesWhatExists() {
        String why = assertThrows(IllegalArgumentException.class, () -> Treatment.parse("fibers")).getMessage();
        assertEquals("unknown treatment 'fibers': own, virtual, virtual-N and platform-N exist", why);
    }
}
