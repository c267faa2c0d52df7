import java.lang.reflect.Field;
import java.util.Arrays;
import sun.misc.Unsafe;

/**
 * The cost that native memory tracking adds to an allocation outside the heap: nanoseconds for it and its release, median of five.
 *
 * <p>{@code java --sun-misc-unsafe-memory-access=allow -XX:NativeMemoryTracking=summary bench/MallocCost.java}; and the same with
 * {@code off}.
 */
final class MallocCost {
    private static final int ALLOCATIONS = 5_000_000;
    private static final int BYTES = 64;

    private MallocCost() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        // The first allocations give the compiler time.
        each(unsafe);
        double[] times = new double[5];
        Arrays.setAll(times, round -> each(unsafe));
        Arrays.sort(times);
        System.out.printf("%.1f ns for each allocation%n", times[2]);
    }

    @SuppressWarnings("removal") // Nothing that replaces them allocates this directly.
    private static double each(Unsafe unsafe) {
        long beganNs = System.nanoTime();
        for (int i = 0; i < ALLOCATIONS; i++) {
            unsafe.freeMemory(unsafe.allocateMemory(BYTES));
        }
        return (System.nanoTime() - beganNs) / (double) ALLOCATIONS;
    }
}
