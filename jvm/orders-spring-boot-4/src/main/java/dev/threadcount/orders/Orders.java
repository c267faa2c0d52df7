package dev.threadcount.orders;

import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/** The tables of the shop. */
@Repository
class Orders {
    /** What one customer bought most. */
    record Bought(String product, long quantity, long cents) {}

    private final JdbcClient jdbc;

    Orders(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Two queries on one connection. */
    @Transactional(readOnly = true)
    Optional<Order> find(long id) {
        return jdbc.sql("SELECT id, customer_id, placed_at, state FROM orders WHERE id = ?")
                .param(id)
                .query(Order.Head.class)
                .optional()
                .map(head -> head.with(lines(id)));
    }

    private List<Order.Line> lines(long id) {
        return jdbc.sql("""
                        SELECT line, product_id, name AS product, quantity, order_line.price_cents
                        FROM order_line JOIN product ON product.id = product_id WHERE order_id = ? ORDER BY line
                        """)
                .param(id)
                .query(Order.Line.class)
                .list();
    }

    /** A transaction of four statements. */
    @Transactional
    long place(int customer, int product, int quantity) {
        int price = jdbc.sql("SELECT price_cents FROM product WHERE id = ?").param(product).query(Integer.class).single();
        long order = jdbc.sql("INSERT INTO orders (customer_id, placed_at, state) VALUES (?, now(), 'new') RETURNING id")
                .param(customer)
                .query(Long.class)
                .single();
        jdbc.sql("INSERT INTO order_line VALUES (?, 1, ?, ?, ?)").params(order, product, quantity, price).update();
        take(product, quantity);
        return order;
    }

    void take(int product, int quantity) {
        jdbc.sql("UPDATE product SET stock = stock - ? WHERE id = ?").params(quantity, product).update();
    }

    int stock(int product) {
        return jdbc.sql("SELECT stock FROM product WHERE id = ?").param(product).query(Integer.class).single();
    }

    /** What the customers of a hundred consecutive numbers bought most: about a thousand orders are read. */
    List<Bought> search(int firstCustomer) {
        return jdbc.sql("""
                        SELECT name AS product, sum(quantity) AS quantity, sum(quantity * order_line.price_cents) AS cents
                        FROM orders JOIN order_line ON order_id = orders.id JOIN product ON product.id = product_id
                        WHERE customer_id BETWEEN ? AND ? GROUP BY name ORDER BY cents DESC, name LIMIT 20
                        """)
                .params(firstCustomer, firstCustomer + 99)
                .query(Bought.class)
                .list();
    }
}
