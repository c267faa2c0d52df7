package dev.threadcount.orders.quarkus.reactive;

import dev.threadcount.orders.common.Bought;
import dev.threadcount.orders.common.Order;
import dev.threadcount.orders.common.Sql;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlClient;
import io.vertx.mutiny.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The tables of the shop. */
final class ReactiveOrders {
    private static final String ORDER = Sql.numbered(Sql.ORDER);
    private static final String LINES = Sql.numbered(Sql.LINES);
    private static final String PRICE = Sql.numbered(Sql.PRICE);
    private static final String NEW_ORDER = Sql.numbered(Sql.NEW_ORDER);
    private static final String NEW_LINE = Sql.numbered(Sql.NEW_LINE);
    private static final String TAKE = Sql.numbered(Sql.TAKE);
    private static final String STOCK = Sql.numbered(Sql.STOCK);
    private static final String SEARCH = Sql.numbered(Sql.SEARCH);

    private final Pool database;

    ReactiveOrders(Pool database) {
        this.database = database;
    }

    /** Runs two queries on one connection. Returns null if there is no such order. */
    Uni<Order> find(long id) {
        return database.withTransaction(connection -> query(connection, ORDER, Tuple.of(id), ReactiveOrders::head)
                .chain(head -> head.isEmpty()
                        ? Uni.createFrom().nullItem()
                        : query(connection, LINES, Tuple.of(id), ReactiveOrders::line).map(head.getFirst()::with)));
    }

    /** Runs a transaction of four statements. */
    Uni<Long> place(int customer, int product, int quantity) {
        return database.withTransaction(connection -> query(connection, PRICE, Tuple.of(product), row -> row.getInteger(0))
                .chain(price -> query(connection, NEW_ORDER, Tuple.of(customer), row -> row.getLong(0))
                        .chain(order -> query(
                                        connection,
                                        NEW_LINE,
                                        Tuple.of(order.getFirst(), product, quantity, price.getFirst()),
                                        Function.identity())
                                .chain(() -> query(connection, TAKE, Tuple.of(quantity, product), Function.identity()))
                                .replaceWith(order.getFirst()))));
    }

    Uni<Void> take(int product, int quantity) {
        return query(database, TAKE, Tuple.of(quantity, product), Function.identity()).replaceWithVoid();
    }

    Uni<Integer> stock(int product) {
        return query(database, STOCK, Tuple.of(product), row -> row.getInteger(0)).map(List::getFirst);
    }

    /** The products that the customers with a hundred consecutive numbers bought most. */
    Uni<List<Bought>> search(int firstCustomer) {
        return query(database, SEARCH, Tuple.of(firstCustomer, firstCustomer + 99),
                row -> new Bought(row.getString(0), row.getLong(1), row.getLong(2)));
    }

    private static Order.Head head(Row row) {
        return new Order.Head(row.getLong(0), row.getInteger(1), row.getOffsetDateTime(2), row.getString(3));
    }

    private static Order.Line line(Row row) {
        return new Order.Line(row.getInteger(0), row.getInteger(1), row.getString(2), row.getInteger(3), row.getInteger(4));
    }

    private static <T> Uni<List<T>> query(SqlClient client, String sql, Tuple values, Function<Row, T> read) {
        Uni<RowSet<Row>> rows = client.preparedQuery(sql).execute(values);
        return rows.map(found -> {
            var all = new ArrayList<T>();
            found.forEach(row -> all.add(read.apply(row)));
            return all;
        });
    }
}
