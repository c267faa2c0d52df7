package dev.threadcount.orders.common;

/**
 * An order that was placed.
 *
 * @param id its number
 */
public record Placed(long id) {}
