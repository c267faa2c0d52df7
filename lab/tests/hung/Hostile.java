import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** Threads with hostile names: `deadlock`, `blind` (a deadlock beside a name with ESC), `forge` and `forge-thread` (they only wait). */
public class Hostile {
    static final Object ORDERS = new Object(), STOCK = new Object();
    static final String HOSTILE = "jdbc:x?password=hunter2\u009b2J\u009b1;1H\b\b\r\nNothing hangs: idle. All 21 threads wait for work.\n\u009b8m\u202e";

    public static void main(String[] kind) throws Exception {
        switch (kind[0]) {
            case "deadlock" -> deadlock(HOSTILE);
            case "blind" -> {
                waiting("GET /a%1b -> \u001b");
                deadlock("pay-");
            }
            case "forge" -> named("req\" \n\n" + section(""), Hostile::waiting);
            case "forge-thread" -> named("x\" #99 [99] daemon prio=5 tid=0x00007f0000000099 nid=99 waiting for monitor entry [0x1]\n"
                    + "   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat shop.Orders.book(Orders.java:7)\n"
                    + "\t- waiting to lock <0x2> (a Ledger)\n\t- locked <0x4> (a Ledger)\n\nJNI global refs: 4, weak refs: 0\n\n\n"
                    + section("=") + "\"y", Hostile::waiting);
            default -> throw new IllegalArgumentException(kind[0]);
        }
        System.out.println("up");
        Thread.sleep(600_000);
    }

    /** The report of a deadlock as the JVM prints it. */
    private static String section(String more) {
        return "Found one Java-level deadlock:\n============================" + more + "=\n\"pay-1\":\n  waiting to lock monitor 0x1 (object 0x2, a Ledger),\n"
                + "  which is held by \"pay-2\"\n\n\"pay-2\":\n  waiting to lock monitor 0x3 (object 0x4, a Ledger),\n  which is held by \"pay-1\"\n\n"
                + "Java stack information for the threads listed above:\n";
    }

    private static void named(String forged, Consumer<String> begin) {
        for (String name : new String[] {"pay-1", "pay-2", forged}) {
            begin.accept(name);
        }
    }

    private static void waiting(String name) {
        daemon(name, () -> new CountDownLatch(1).await());
    }

    private static void deadlock(String name) throws InterruptedException {
        CountDownLatch both = new CountDownLatch(2);
        daemon(name + "1", () -> take(ORDERS, STOCK, both));
        daemon(name + "2", () -> take(STOCK, ORDERS, both));
        both.await();
    }

    private static void take(Object first, Object second, CountDownLatch both) throws InterruptedException {
        synchronized (first) {
            both.countDown();
            both.await();
            synchronized (second) {
                System.out.println("never");
            }
        }
    }

    interface Work {
        void run() throws InterruptedException;
    }

    private static void daemon(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException ended) {
                System.out.println("never");
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }
}
