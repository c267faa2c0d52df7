package dev.threadcount.servlets;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Blocks in Java code that C code has called: the C library's {@code qsort} sorts two numbers and asks us which is the
 * smaller one. No virtual thread can leave its carrier with a native frame below it, in any Java so far. Needs Java 22
 * (JEP 454), and {@code --enable-native-access=ALL-UNNAMED} to be silent about it.
 */
public final class NativeFrame extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int NUMBERS = 2;
    private static final MethodHandle BLOCK_AND_COMPARE = blockAndCompare();
    private static final FunctionDescriptor COMPARATOR =
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
    private static final MethodHandle QSORT = qsort();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Blocking.answer(request, response, NativeFrame::blockInsideQsort);
    }

    /** Sorts two numbers, which takes one comparison. */
    @SuppressWarnings("restricted")
    static void blockInsideQsort(Sleep sleep) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocate(ValueLayout.JAVA_INT, NUMBERS);
            MemorySegment comparator =
                    Linker.nativeLinker().upcallStub(BLOCK_AND_COMPARE.bindTo(sleep), COMPARATOR, arena);
            QSORT.invokeExact(numbers, (long) NUMBERS, ValueLayout.JAVA_INT.byteSize(), comparator);
        } catch (Throwable undeclared) {
            throw new IllegalStateException(undeclared);
        }
    }

    /** Catches everything, because an exception out of an upcall ends the JVM. */
    static int blockAndCompare(Sleep sleep, MemorySegment one, MemorySegment other) {
        try {
            Thread.sleep(sleep.duration());
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
        return Long.compare(one.address(), other.address());
    }

    private static MethodHandle blockAndCompare() {
        try {
            return MethodHandles.lookup().findStatic(NativeFrame.class, "blockAndCompare",
                    MethodType.methodType(int.class, Sleep.class, MemorySegment.class, MemorySegment.class));
        } catch (NoSuchMethodException | IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle qsort() {
        Linker linker = Linker.nativeLinker();
        AddressLayout pointer = ValueLayout.ADDRESS;
        return linker.downcallHandle(linker.defaultLookup().find("qsort").orElseThrow(),
                FunctionDescriptor.ofVoid(pointer, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, pointer));
    }
}
