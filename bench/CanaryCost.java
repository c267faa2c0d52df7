import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The cost of the probe's canary in an idle JVM, where it has to wake a carrier each time: CPU of the thread that asks and of the carriers,
 * which nothing else uses.
 *
 * <p>{@code java -javaagent:jvm/probe/target/probe.jar=out=file:/dev/null bench/CanaryCost.java [SECONDS]}
 */
public final class CanaryCost {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private CanaryCost() {}

    public static void main(String[] arguments) throws InterruptedException {
        long seconds = arguments.length == 0 ? 20 : Long.parseLong(arguments[0]);
        Thread.ofVirtual().start(() -> { }).join();
        // The canary begins with the next reading, and its code is interpreted at first.
        TimeUnit.SECONDS.sleep(10);
        Map<String, Long> before = cpu();
        long beganNs = System.nanoTime();
        TimeUnit.SECONDS.sleep(seconds);
        double elapsedNs = System.nanoTime() - beganNs;
        cpu().forEach((name, ns) -> System.out.printf(
                "%-28s %.3f %% of a core%n", name, 100 * (ns - before.getOrDefault(name, 0L)) / elapsedNs));
    }

    private static Map<String, Long> cpu() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] all = new Thread[root.activeCount() + 64];
        int count = root.enumerate(all, true);
        return java.util.Arrays.stream(all, 0, count)
                .filter(thread -> thread.getName().equals("threadcount-probe-canary") || isCarrier(thread))
                .collect(Collectors.toMap(thread -> isCarrier(thread) ? "carriers" : thread.getName(),
                        thread -> THREADS.getThreadCpuTime(thread.threadId()), Long::sum));
    }

    private static boolean isCarrier(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        return group != null && group.getName().equals("CarrierThreads");
    }
}
