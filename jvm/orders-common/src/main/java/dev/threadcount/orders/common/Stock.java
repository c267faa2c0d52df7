package dev.threadcount.orders.common;

/**
 * The remaining stock of a product.
 *
 * @param product the product
 * @param stock the number of pieces
 */
public record Stock(int product, int stock) {}
