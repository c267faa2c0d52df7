package dev.threadcount.probe.stacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CodeTest {
    @Test
    void aFrameIsNamedByClassMethodAndLineAndABeansProxyAsTheBean() {
        assertEquals("shop.Orders.find:42", Code.name("shop.Orders", "find", 42));
        assertEquals("shop.Orders.find", Code.name("shop.Orders", "find", -1));
        assertEquals("shop.Orders.find", Code.name("shop.Orders$$SpringCGLIB$$0", "find", -1));
        assertEquals("shop.Orders$Line.price:7", Code.name("shop.Orders$Line", "price", 7));
    }

    @Test
    void aClassOfTheJdkAServerOrALibraryIsNotTheApplicationsAndOneOfASimilarNameIs() {
        assertTrue(Code.isJdk("java.util.concurrent.Semaphore"));
        assertFalse(Code.isJdk("org.apache.coyote.Adapter"));
        for (String type : new String[] {"java.util.concurrent.Semaphore", "org.apache.coyote.Adapter", "com.mongodb.Pool"}) {
            assertFalse(Code.isApplication(type), type);
        }
        for (String type : new String[] {"javanese.Cook", "org.apache.coyotes.Den", "org.springframework.samples.Owner"}) {
            assertTrue(Code.isApplication(type), type);
        }
    }
}
