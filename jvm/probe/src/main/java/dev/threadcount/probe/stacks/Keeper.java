package dev.threadcount.probe.stacks;

import java.util.List;

/**
 * The place that keeps an object.
 *
 * @param queues the fields whose queues lead to it, and executors of the JDK, the nearest first
 * @param field the field of the nearest collection or array that leads to it, with its class; null for none
 * @param root the object from which it was reached first; null for a static field
 */
public record Keeper(List<String> queues, String field, Object root) {
    /** Stands for an object that was not found. */
    public static final Keeper NONE = new Keeper(List.of(), null, null);
}
