package dev.threadcount.orders.webflux;

import dev.threadcount.orders.common.Bought;
import dev.threadcount.orders.common.Order;
import dev.threadcount.orders.common.Sql;
import java.util.List;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Mono;

/** The tables of the shop. */
@Repository
class ReactiveOrders {
    private static final String ORDER = Sql.numbered(Sql.ORDER);
    private static final String LINES = Sql.numbered(Sql.LINES);
    private static final String PRICE = Sql.numbered(Sql.PRICE);
    private static final String NEW_ORDER = Sql.numbered(Sql.NEW_ORDER);
    private static final String NEW_LINE = Sql.numbered(Sql.NEW_LINE);
    private static final String TAKE = Sql.numbered(Sql.TAKE);
    private static final String STOCK = Sql.numbered(Sql.STOCK);
    private static final String SEARCH = Sql.numbered(Sql.SEARCH);

    private final DatabaseClient database;

    ReactiveOrders(DatabaseClient database) {
        this.database = database;
    }

    /** Two queries on one connection. */
    @Transactional(readOnly = true)
    Mono<Order> find(long id) {
        Mono<Order.Head> head = database.sql(ORDER).bind(0, id).mapProperties(Order.Head.class).one();
        return head.flatMap(found -> lines(id).map(found::with));
    }

    private Mono<List<Order.Line>> lines(long id) {
        return database.sql(LINES).bind(0, id).mapProperties(Order.Line.class).all().collectList();
    }

    /** A transaction of four statements. */
    @Transactional
    Mono<Long> place(int customer, int product, int quantity) {
        Mono<Integer> price = database.sql(PRICE).bind(0, product).mapValue(Integer.class).one();
        Mono<Long> order = database.sql(NEW_ORDER).bind(0, customer).mapValue(Long.class).one();
        return price.flatMap(cents -> order.flatMap(id -> line(id, product, quantity, cents)
                .then(take(product, quantity))
                .thenReturn(id)));
    }

    private Mono<Void> line(long order, int product, int quantity, int price) {
        return database.sql(NEW_LINE).bind(0, order).bind(1, product).bind(2, quantity).bind(3, price).then();
    }

    Mono<Void> take(int product, int quantity) {
        return database.sql(TAKE).bind(0, quantity).bind(1, product).then();
    }

    Mono<Integer> stock(int product) {
        return database.sql(STOCK).bind(0, product).mapValue(Integer.class).one();
    }

    /** The products that the customers with a hundred consecutive numbers bought most. */
    Mono<List<Bought>> search(int firstCustomer) {
        return database.sql(SEARCH)
                .bind(0, firstCustomer)
                .bind(1, firstCustomer + 99)
                .mapProperties(Bought.class)
                .all()
                .collectList();
    }
}
