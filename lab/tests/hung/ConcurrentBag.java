package com.zaxxer.hikari.util;

import java.util.List;
import java.util.concurrent.LinkedTransferQueue;

/** A pool with the class and methods of HikariCP's, by which a stack shows it. */
public class ConcurrentBag<T> {
    private final LinkedTransferQueue<T> free;

    public ConcurrentBag(List<T> entries) {
        free = new LinkedTransferQueue<>(entries);
    }

    public T borrow() throws InterruptedException {
        return free.take();
    }

    public void requite(T entry) {
        free.add(entry);
    }

    public int getWaitingThreadCount() {
        return free.getWaitingConsumerCount();
    }
}
