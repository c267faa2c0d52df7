package dev.threadcount.orders.common;

/**
 * What is left of a product.
 *
 * @param product the product
 * @param stock how many
 */
public record Stock(int product, int stock) {}
