package dev.threadcount.orders;

import dev.threadcount.orders.common.Bought;
import dev.threadcount.orders.common.Order;
import dev.threadcount.orders.common.Sql;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/** The tables of the shop. */
@Repository
class Orders {
    private final JdbcClient jdbc;

    Orders(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Two queries on one connection. */
    @Transactional(readOnly = true)
    Optional<Order> find(long id) {
        return jdbc.sql(Sql.ORDER).param(id).query(Order.Head.class).optional().map(head -> head.with(lines(id)));
    }

    private List<Order.Line> lines(long id) {
        return jdbc.sql(Sql.LINES).param(id).query(Order.Line.class).list();
    }

    /** A transaction of four statements. */
    @Transactional
    long place(int customer, int product, int quantity) {
        int price = jdbc.sql(Sql.PRICE).param(product).query(Integer.class).single();
        long order = jdbc.sql(Sql.NEW_ORDER).param(customer).query(Long.class).single();
        jdbc.sql(Sql.NEW_LINE).params(order, product, quantity, price).update();
        take(product, quantity);
        return order;
    }

    void take(int product, int quantity) {
        jdbc.sql(Sql.TAKE).params(quantity, product).update();
    }

    int stock(int product) {
        return jdbc.sql(Sql.STOCK).param(product).query(Integer.class).single();
    }

    /** The products that the customers with a hundred consecutive numbers bought most. This reads about a thousand orders. */
    List<Bought> search(int firstCustomer) {
        return jdbc.sql(Sql.SEARCH).params(firstCustomer, firstCustomer + 99).query(Bought.class).list();
    }
}
