package dev.threadcount.probe.stacks;

/**
 * What a thread does, told from its stack.
 *
 * @param state what it does
 * @param resource what it waits for: the name of a pool's product, or a class; null where there is none
 * @param application the first frame, from the top, of the application; null for none
 * @param library the first frame above it that is neither the application's nor the JDK's; null for none
 * @param role whose work it does
 */
public record Activity(State state, String resource, String application, String library, Role role) {}
