package dev.threadcount.orders;

import java.time.OffsetDateTime;
import java.util.List;

/** One order with its lines. */
record Order(long id, int customerId, OffsetDateTime placedAt, String state, List<Line> lines) {
    /** One product of an order. */
    record Line(int line, int productId, String product, int quantity, int priceCents) {}

    /** The row of the table. */
    record Head(long id, int customerId, OffsetDateTime placedAt, String state) {
        Order with(List<Line> lines) {
            return new Order(id, customerId, placedAt, state, lines);
        }
    }

    int totalCents() {
        return lines.stream().mapToInt(line -> line.quantity() * line.priceCents()).sum();
    }
}
