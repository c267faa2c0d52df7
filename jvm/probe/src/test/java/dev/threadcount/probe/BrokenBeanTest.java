package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrokenBeanTest {
    /** A bean like Tomcat's. */
    public interface PoolMBean {
        /** Throws, or returns 7. */
        int getcurrentThreadsBusy();
    }

    /** A pool that throws, or one that does not. */
    public static final class Pool implements PoolMBean {
        private final boolean broken;

        Pool(boolean broken) {
            this.broken = broken;
        }

        @Override
        public int getcurrentThreadsBusy() {
            if (broken) {
                throw new IllegalStateException("it is closed");
            }
            return 7;
        }
    }

    @Test
    void poolWhoseBeanThrowsIsNamedAndTheOthersAreRead(@TempDir Path folder) throws Exception {
        var server = ManagementFactory.getPlatformMBeanServer();
        ObjectName broken = new ObjectName("test:type=ThreadPool,name=a-broken");
        ObjectName other = new ObjectName("test:type=ThreadPool,name=other");
        server.registerMBean(new Pool(true), broken);
        server.registerMBean(new Pool(false), other);
        Path file = folder.resolve("lines");
        try {
            Output output = Output.open(new Options.Out(file, false));
            new Pools(null).writeTo(output, 1);
            output.close();
        } finally {
            server.unregisterMBean(broken);
            server.unregisterMBean(other);
        }
        List<String> lines = Files.readAllLines(file);
        assertTrue(lines.stream().anyMatch(it -> it.contains("\"problem\"") && it.contains("a-broken")
                && it.contains("it is closed")), lines::toString);
        assertTrue(lines.stream().anyMatch(it -> it.contains("\"other\"") && it.contains("\"busy\":7")), lines::toString);
    }
}
