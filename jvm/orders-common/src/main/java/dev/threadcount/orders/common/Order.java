package dev.threadcount.orders.common;

import java.time.OffsetDateTime;
import java.util.List;

/**
 * One order with its lines.
 *
 * @param id its number
 * @param customerId the customer who placed it
 * @param placedAt the time at which it was placed
 * @param state new, paid, shipped or returned
 * @param lines its products
 */
public record Order(long id, int customerId, OffsetDateTime placedAt, String state, List<Line> lines) {
    /**
     * One product of an order.
     *
     * @param line its number in the order
     * @param productId the product's number
     * @param product the product's name
     * @param quantity the ordered quantity
     * @param priceCents the price of one piece
     */
    public record Line(int line, int productId, String product, int quantity, int priceCents) {}

    /**
     * The table's row of an order.
     *
     * @param id its number
     * @param customerId the customer who placed it
     * @param placedAt the time at which it was placed
     * @param state new, paid, shipped or returned
     */
    public record Head(long id, int customerId, OffsetDateTime placedAt, String state) {
        public Order with(List<Line> lines) {
            return new Order(id, customerId, placedAt, state, lines);
        }
    }

    /** The sum over its lines. */
    public int totalCents() {
        return lines.stream().mapToInt(line -> line.quantity() * line.priceCents()).sum();
    }
}
