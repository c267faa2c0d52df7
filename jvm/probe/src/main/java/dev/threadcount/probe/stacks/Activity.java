package dev.threadcount.probe.stacks;

/**
 * The activity of a thread, derived from its stack.
 *
 * @param state what the thread does
 * @param resource what it waits for: the product name of a pool, or a class; null if there is none
 * @param application the first frame, from the top, of the application; null for none
 * @param library the first frame above it that belongs neither to the application nor to the JDK; null for none
 * @param role the purpose of its work
 */
public record Activity(State state, String resource, String application, String library, Role role) {}
