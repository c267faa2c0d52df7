package dev.threadcount.probe;

/**
 * Draws threads of one kind while they are listed: every n-th, from a random first one, so that each is equally likely
 * (W. G. Cochran, "Sampling techniques", 1977, chapter 8). Drawing first and looking later would miss the threads that
 * end in between, which run the short requests.
 */
final class ThreadDraw {
    private final double step;
    /** The largest number of draws, because there may be many more threads than expected. */
    private final int most;
    private double next;
    private int seen;
    private int drawn;

    /**
     * A draw.
     *
     * @param expected the approximate number of threads that will be listed
     * @param wanted the number that should be drawn
     * @param chance a random number from 0 to 1, exclusive
     */
    ThreadDraw(int expected, int wanted, double chance) {
        step = Math.max(1, (double) expected / Math.max(1, wanted));
        most = 2 * Math.max(1, wanted);
        next = step * chance;
    }

    /** Whether the thread that is listed now is drawn. */
    boolean offer() {
        boolean isNext = seen >= (int) next;
        seen++;
        if (!isNext) {
            return false;
        }
        next += step;
        if (drawn == most) {
            return false;
        }
        drawn++;
        return true;
    }

    /** The number of threads that were listed. */
    int seen() {
        return seen;
    }

    /** The number of threads that were drawn. */
    int drawn() {
        return drawn;
    }
}
