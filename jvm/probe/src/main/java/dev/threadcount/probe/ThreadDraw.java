package dev.threadcount.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Draws a few threads of many, each as likely as any other, in one pass (Vitter's algorithm R, 1985). */
final class ThreadDraw {
    private final int most;
    private final List<Thread> drawn = new ArrayList<>();
    private int seen;

    /** @param most how many are drawn at most */
    ThreadDraw(int most) {
        this.most = most;
    }

    void offer(Thread thread) {
        seen++;
        if (drawn.size() < most) {
            drawn.add(thread);
            return;
        }
        int place = ThreadLocalRandom.current().nextInt(seen);
        if (place < most) {
            drawn.set(place, thread);
        }
    }

    /** How many were offered. */
    int seen() {
        return seen;
    }

    /** At most so many of those drawn; which ones is chance. */
    List<Thread> first(int count) {
        java.util.Collections.shuffle(drawn, ThreadLocalRandom.current());
        return drawn.subList(0, Math.min(count, drawn.size()));
    }
}
