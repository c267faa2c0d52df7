package dev.threadcount.orders.common;

import java.time.OffsetDateTime;
import java.util.List;

/**
 * One order with its lines.
 *
 * @param id its number
 * @param customerId who placed it
 * @param placedAt when
 * @param state new, paid, shipped or returned
 * @param lines its products
 */
public record Order(long id, int customerId, OffsetDateTime placedAt, String state, List<Line> lines) {
    /**
     * One product of an order.
     *
     * @param line its number in the order
     * @param productId the product
     * @param product its name
     * @param quantity how many
     * @param priceCents of one
     */
    public record Line(int line, int productId, String product, int quantity, int priceCents) {}

    /**
     * The row of the table.
     *
     * @param id its number
     * @param customerId who placed it
     * @param placedAt when
     * @param state new, paid, shipped or returned
     */
    public record Head(long id, int customerId, OffsetDateTime placedAt, String state) {
        /** The order with its lines. */
        public Order with(List<Line> lines) {
            return new Order(id, customerId, placedAt, state, lines);
        }
    }

    /** The sum over its lines. */
    public int totalCents() {
        return lines.stream().mapToInt(line -> line.quantity() * line.priceCents()).sum();
    }
}
