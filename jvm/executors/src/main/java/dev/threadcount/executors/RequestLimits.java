package dev.threadcount.executors;

import org.apache.catalina.LifecycleException;

/** The attributes of a limit in server.xml: how many requests run and wait, how long, and what the others get. */
final class RequestLimits {
    int maxConcurrent = 200;
    int maxQueue = 1_000;
    long queueTimeoutMs = 1_000;
    int retryAfterSeconds = 1;
    int rejectionStatus = 503;

    /** Checks the attributes at the start. If a setter threw, Tomcat would only log it and start without the limit. */
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
