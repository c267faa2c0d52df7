package dev.threadcount.executors;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import org.apache.catalina.Executor;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Service;

/**
 * Finds the Service that an executor belongs to.
 *
 * <p>Tomcat does not tell an executor. But a Service knows its executors, and Tomcat registers each Service with JMX.
 */
final class OwnService {
    private OwnService() {}

    static Service of(Executor executor) throws LifecycleException {
        return servers()
                .flatMap(OwnService::services)
                .filter(service -> Arrays.asList(service.findExecutors()).contains(executor))
                .findFirst()
                .orElseThrow(() -> new LifecycleException("the executor " + executor.getName()
                        + " belongs to no Service that is registered with JMX, so it cannot add its limit; use Tomcat's own"
                        + " virtual threads and a " + RequestLimitValve.class.getName()));
    }

    /** The servers in which Tomcat may register: the first that exists, otherwise the platform's. */
    private static Stream<MBeanServer> servers() {
        List<MBeanServer> existing = MBeanServerFactory.findMBeanServer(null);
        return Stream.concat(existing.stream(), Stream.of(ManagementFactory.getPlatformMBeanServer())).distinct();
    }

    private static Stream<Service> services(MBeanServer server) {
        try {
            return server.queryNames(new ObjectName("*:type=Service,*"), null).stream()
                    .flatMap(name -> managedService(server, name).stream());
        } catch (MalformedObjectNameException cause) {
            throw new IllegalStateException(cause);
        }
    }

    private static List<Service> managedService(MBeanServer server, ObjectName name) {
        try {
            return server.getAttribute(name, "managedResource") instanceof Service service ? List.of(service) : List.of();
        } catch (JMException another) {
            // It is the service of another product.
            return List.of();
        }
    }
}
