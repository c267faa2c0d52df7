import java.lang.management.ManagementFactory;
import javax.management.ObjectName;

/**
 * A JVM with something of everything that the probe reports: threads that wait for a monitor whose owner sleeps (and, on Java 21, pins
 * its carrier), garbage, and as many pools as the first argument says. It prints "up", and then a line with all packages of the JDK
 * that are open to it for each line that it reads.
 */
public class Busy {
    public interface PoolMBean {
        int getActiveConnections();

        int getTotalConnections();

        int getThreadsAwaitingConnection();
    }

    public static final class Pool implements PoolMBean {
        @Override
        public int getActiveConnections() {
            return 1;
        }

        @Override
        public int getTotalConnections() {
            return 10;
        }

        @Override
        public int getThreadsAwaitingConnection() {
            return 0;
        }
    }

    static final Object MONITOR = new Object();
    static volatile Object garbage;

    public static void main(String[] arguments) throws Exception {
        int pools = Integer.parseInt(arguments[0]);
        for (int i = 0; i < pools; i++) {
            ObjectName name = new ObjectName("com.zaxxer.hikari:type=Pool (shop-" + i + ")");
            ManagementFactory.getPlatformMBeanServer().registerMBean(new Pool(), name);
        }
        if (arguments.length > 1) {
            for (int i = 0; i < 6; i++) {
                Thread.ofVirtual().start(Busy::wait30ms);
            }
            Thread.ofPlatform().daemon().start(Busy::allocate);
        }
        System.out.println("up");
        while (System.in.read() >= 0) {
            System.out.println(openPackages());
        }
    }

    static void wait30ms() {
        while (true) {
            synchronized (MONITOR) {
                pause(30);
            }
        }
    }

    static void allocate() {
        while (true) {
            for (int i = 0; i < 100; i++) {
                garbage = new byte[10_000];
            }
            pause(5);
        }
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    static String openPackages() {
        StringBuilder open = new StringBuilder("open:");
        for (Module module : ModuleLayer.boot().modules()) {
            module.getPackages().stream().filter(name -> module.isOpen(name, Busy.class.getModule())).sorted()
                    .forEach(name -> open.append(' ').append(name));
        }
        return open.toString();
    }
}
