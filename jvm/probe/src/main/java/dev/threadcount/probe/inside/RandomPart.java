package dev.threadcount.probe.inside;

import java.util.Spliterator;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Passes a random part of a set, without looking at the rest. A hash table can be halved again and again, until a small piece of it is
 * drawn by lot. Each element is equally likely to be in the piece, wherever it is in the table.
 */
final class RandomPart {
    /**
     * The number of places from which the part is taken, because threads that are near each other in a table began at about the same time.
     */
    private static final int PLACES = 64;

    private final RandomGenerator random;

    RandomPart(RandomGenerator random) {
        this.random = random;
    }

    /**
     * Passes each element with the same chance.
     *
     * @param all the elements of a set that may change meanwhile
     * @param oneIn a power of two: the chance is one in this number
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
        // A piece that cannot be halved any further is taken as a whole or not at all.
        if (random.nextInt(left) == 0) {
            piece.forEachRemaining(consumer);
        }
    }
}
