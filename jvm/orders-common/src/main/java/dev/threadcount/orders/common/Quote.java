package dev.threadcount.orders.common;

/**
 * The neighbour's price for a product.
 *
 * @param product the product
 * @param priceCents its price
 */
public record Quote(int product, int priceCents) {}
