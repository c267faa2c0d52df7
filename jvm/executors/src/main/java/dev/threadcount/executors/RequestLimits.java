package dev.threadcount.executors;

import org.apache.catalina.LifecycleException;

/** How many requests run and wait, how long, and what the others get: the attributes of server.xml. */
final class RequestLimits {
    int maxConcurrent = 200;
    int maxQueue = 1_000;
    long queueTimeoutMs = 1_000;
    int retryAfterSeconds = 1;
    int rejectionStatus = 503;

    /** At the start and not in a setter: Tomcat only logs what a setter throws, and would start without the limit. */
    void check() throws LifecycleException {
        atLeast("maxConcurrent", maxConcurrent, 1);
        atLeast("maxQueue", maxQueue, 0);
        atLeast("queueTimeoutMs", queueTimeoutMs, 0);
        atLeast("retryAfterSeconds", retryAfterSeconds, 0);
        if (rejectionStatus < 400 || rejectionStatus > 599) {
            throw new LifecycleException("rejectionStatus must be from 400 to 599, not " + rejectionStatus);
        }
    }

    private static void atLeast(String attribute, long value, long smallest) throws LifecycleException {
        if (value < smallest) {
            throw new LifecycleException(attribute + " must be at least " + smallest + ", not " + value);
        }
    }
}
