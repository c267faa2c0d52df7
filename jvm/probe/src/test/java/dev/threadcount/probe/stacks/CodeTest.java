package dev.threadcount.probe.stacks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CodeTest {
    @Test
    void aFrameIsNamedByClassMethodAndLineAndABeansProxyAsTheBean() {
        assertEquals("shop.Orders.find:42", Code.name("shop.Orders", "find", 42));
        assertEquals("shop.Orders.find", Code.name("shop.Orders", "find", -1));
        assertEquals("shop.Orders.find", Code.name("shop.Orders$$SpringCGLIB$$0", "find", -1));
        assertEquals("shop.Orders$Line.price:7", Code.name("shop.Orders$Line", "price", 7));
    }
}
