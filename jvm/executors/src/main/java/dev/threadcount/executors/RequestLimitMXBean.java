package dev.threadcount.executors;

/** The figures of a request limit in JMX, as {@code dev.threadcount:type=RequestLimit,name=...}. */
public interface RequestLimitMXBean {
    /** {@return requests that run at most at once} */
    int getMaxConcurrent();

    /** {@return requests that wait at most at once} */
    int getMaxQueue();

    /** {@return the longest that a request waits for its slot, in milliseconds} */
    long getQueueTimeoutMs();

    /** {@return requests that run now, asynchronous ones included until they are complete} */
    int getRunning();

    /** {@return requests that wait for a slot now} */
    int getQueued();

    /** {@return requests that got a slot since the start} */
    long getAdmitted();

    /** {@return requests that were rejected since the start because the queue was full} */
    long getRejected();

    /** {@return requests that were rejected since the start because they had waited too long} */
    long getTimedOut();
}
