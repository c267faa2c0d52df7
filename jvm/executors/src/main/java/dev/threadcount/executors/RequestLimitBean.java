package dev.threadcount.executors;

import java.lang.management.ManagementFactory;
import java.util.Map;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.StandardMBean;

/**
 * A limit in JMX, with a description of each attribute.
 *
 * <p>It is in the JVM's MBean server, not in Tomcat's registry, which Spring Boot leaves off.
 */
final class RequestLimitBean extends StandardMBean {
    private static final Map<String, String> DESCRIPTIONS = Map.of(
            "MaxConcurrent", "Requests that run at most at once",
            "MaxQueue", "Requests that wait at most at once",
            "QueueTimeoutMs", "The longest that a request waits for its slot, in milliseconds",
            "Running", "Requests that run now, asynchronous ones included until they are complete",
            "Queued", "Requests that wait for a slot now",
            "Admitted", "Requests that got a slot since the start",
            "Rejected", "Requests that were rejected since the start because the queue was full",
            "TimedOut", "Requests that were rejected since the start because they had waited too long");

    private RequestLimitBean(RequestLimits limits, RequestSlots slots) {
        super(new Figures(limits, slots), RequestLimitMXBean.class, true);
    }

    /** Registers the figures as {@code name}, or as {@code name-2} and so on if another limit has that name. */
    static ObjectName register(String name, RequestLimits limits, RequestSlots slots) throws JMException {
        var bean = new RequestLimitBean(limits, slots);
        for (int number = 1; ; number++) {
            ObjectName free = objectName(number == 1 ? name : name + "-" + number);
            try {
                return ManagementFactory.getPlatformMBeanServer().registerMBean(bean, free).getObjectName();
            } catch (InstanceAlreadyExistsException taken) {
                continue;
            }
        }
    }

    static void unregister(ObjectName name) throws JMException {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
    }

    private static ObjectName objectName(String name) throws MalformedObjectNameException {
        boolean isPlain = name.chars().allMatch(letter -> Character.isLetterOrDigit(letter) || "-_.".indexOf(letter) >= 0);
        return new ObjectName("dev.threadcount:type=RequestLimit,name=" + (isPlain ? name : ObjectName.quote(name)));
    }

    @Override
    protected String getDescription(MBeanInfo info) {
        return "How many requests run and wait, and how many were rejected";
    }

    @Override
    protected String getDescription(MBeanAttributeInfo attribute) {
        return DESCRIPTIONS.get(attribute.getName());
    }

    private record Figures(RequestLimits limits, RequestSlots slots) implements RequestLimitMXBean {
        @Override
        public int getMaxConcurrent() {
            return limits.maxConcurrent;
        }

        @Override
        public int getMaxQueue() {
            return limits.maxQueue;
        }

        @Override
        public long getQueueTimeoutMs() {
            return limits.queueTimeoutMs;
        }

        @Override
        public int getRunning() {
            return slots.running();
        }

        @Override
        public int getQueued() {
            return slots.queued();
        }

        @Override
        public long getAdmitted() {
            return slots.admitted();
        }

        @Override
        public long getRejected() {
            return slots.rejected();
        }

        @Override
        public long getTimedOut() {
            return slots.timedOut();
        }
    }
}
