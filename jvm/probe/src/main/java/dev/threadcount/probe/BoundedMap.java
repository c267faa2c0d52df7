package dev.threadcount.probe;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that forgets its oldest entry when it has too many. */
final class BoundedMap<K, V> extends LinkedHashMap<K, V> {
    private static final long serialVersionUID = 1L;

    private final int most;

    BoundedMap(int most) {
        this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > most;
    }
}
