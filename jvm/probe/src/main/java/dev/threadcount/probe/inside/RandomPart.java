package dev.threadcount.probe.inside;

import java.util.Spliterator;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * A random part of a set, of which the rest is not even looked at. A table of hashes can be halved again and again, so that a small piece of it
 * can be chosen by lot: each element is as likely as any other to be in it, wherever it is in the table.
 */
final class RandomPart {
    /** What is near each other in a table of threads began at about the same time, so the part is taken from so many places. */
    private static final int PLACES = 64;

    private final RandomGenerator random;

    RandomPart(RandomGenerator random) {
        this.random = random;
    }

    /**
     * Passes each element with the same chance.
     *
     * @param all of a set that changes freely meanwhile
     * @param oneIn a power of two: the chance is one in so many
     */
    <T> void of(Spliterator<T> all, int oneIn, Consumer<? super T> consumer) {
        of(all, PLACES, oneIn, consumer);
    }

    private <T> void of(Spliterator<T> all, int places, int oneIn, Consumer<? super T> consumer) {
        Spliterator<T> half = places == 1 || oneIn == 1 ? null : all.trySplit();
        if (half == null) {
            piece(all, oneIn, consumer);
        } else {
            of(half, places / 2, oneIn, consumer);
            of(all, places / 2, oneIn, consumer);
        }
    }

    private <T> void piece(Spliterator<T> all, int oneIn, Consumer<? super T> consumer) {
        Spliterator<T> piece = all;
        int left = oneIn;
        while (left > 1) {
            Spliterator<T> half = piece.trySplit();
            if (half == null) {
                break;
            }
            piece = random.nextBoolean() ? half : piece;
            left /= 2;
        }
        // What cannot be halved any further is taken whole or not at all.
        if (random.nextInt(left) == 0) {
            piece.forEachRemaining(consumer);
        }
    }
}
