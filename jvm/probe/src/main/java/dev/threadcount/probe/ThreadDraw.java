package dev.threadcount.probe;

/**
 * Draws threads of one kind while they are listed: every n-th, from a first one that is chance, so that each is as likely as
 * any other (W. G. Cochran, "Sampling techniques", 1977, chapter 8). Whoever draws first and looks later misses threads that
 * end in between, and those are the short requests.
 */
final class ThreadDraw {
    private final double step;
    /** There may be many more threads than are expected. */
    private final int most;
    private double next;
    private int seen;
    private int drawn;

    /**
     * A draw.
     *
     * @param expected how many will be listed, about
     * @param wanted how many of them are to be drawn
     * @param chance from 0 to 1, exclusive
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

    /** How many were listed. */
    int seen() {
        return seen;
    }

    /** How many were drawn. */
    int drawn() {
        return drawn;
    }
}
