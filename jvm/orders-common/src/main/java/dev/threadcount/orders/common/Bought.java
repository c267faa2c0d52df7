package dev.threadcount.orders.common;

/**
 * What customers bought of one product.
 *
 * @param product its name
 * @param quantity how many
 * @param cents what they paid
 */
public record Bought(String product, long quantity, long cents) {}
