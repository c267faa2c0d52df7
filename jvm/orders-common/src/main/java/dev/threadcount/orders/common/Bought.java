package dev.threadcount.orders.common;

/**
 * The purchases of one product.
 *
 * @param product its name
 * @param quantity the quantity bought
 * @param cents the price paid
 */
public record Bought(String product, long quantity, long cents) {}
