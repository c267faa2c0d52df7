import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import jdk.jfr.Recording;

/**
 * The cost of a flight recorder for the threads that it watches, in nanoseconds of CPU; medians of five.
 *
 * <p>{@code java -Djdk.virtualThreadScheduler.parallelism=1 bench/RecorderCost.java}; and the same with
 * {@code -XX:StartFlightRecording}.
 */
final class RecorderCost {
    private static final int YIELDS = 3_000_000;
    private static final int THREADS = 1_000_000;
    private static final int READS = 500_000;
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** A piece of work whose cost is measured. */
    interface Work {
        void run() throws Exception;
    }

    private RecorderCost() {}

    public static void main(String[] arguments) throws Exception {
        System.out.printf("a virtual thread gives way and goes on: %d ns%n", median(YIELDS, RecorderCost::yields));
        System.out.printf("a virtual thread starts and ends: %d ns%n", median(THREADS, RecorderCost::starts));
        try (var listener = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
                var channel = SocketChannel.open(listener.getLocalAddress())) {
            channel.configureBlocking(false);
            System.out.printf("a read from a socket that has nothing: %d ns%n", median(READS, () -> reads(channel)));
            try (var recording = new Recording()) {
                recording.enable("jdk.SocketRead").withThreshold(Duration.ofMillis(20)).withStackTrace();
                recording.start();
                System.out.printf("the same with jdk.SocketRead: %d ns%n", median(READS, () -> reads(channel)));
            }
        }
    }

    /** The median of five; the first two of seven measurements only give the compiler time. */
    private static long median(int times, Work work) throws Exception {
        long[] perTime = new long[7];
        for (int i = 0; i < perTime.length; i++) {
            long before = SYSTEM.getProcessCpuTime();
            work.run();
            perTime[i] = (SYSTEM.getProcessCpuTime() - before) / times;
        }
        long[] warm = Arrays.copyOfRange(perTime, 2, perTime.length);
        Arrays.sort(warm);
        return warm[warm.length / 2];
    }

    private static void yields() throws InterruptedException {
        Thread.ofVirtual().start(() -> {
            for (int i = 0; i < YIELDS; i++) {
                Thread.yield();
            }
        }).join();
    }

    private static void starts() throws InterruptedException {
        for (int i = 0; i < THREADS; i += 1_000) {
            var ended = new CountDownLatch(1_000);
            for (int j = 0; j < 1_000; j++) {
                Thread.ofVirtual().start(ended::countDown);
            }
            ended.await();
        }
    }

    private static void reads(SocketChannel channel) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocateDirect(100);
        for (int i = 0; i < READS; i++) {
            channel.read(buffer.clear());
        }
    }
}
