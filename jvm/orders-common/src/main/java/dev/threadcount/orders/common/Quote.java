package dev.threadcount.orders.common;

/**
 * What the neighbour asks for a product.
 *
 * @param product the product
 * @param priceCents its price
 */
public record Quote(int product, int priceCents) {}
