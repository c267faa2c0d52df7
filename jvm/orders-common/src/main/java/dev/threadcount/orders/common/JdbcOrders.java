package dev.threadcount.orders.common;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** The tables of the shop, over plain JDBC. */
public final class JdbcOrders {
    private final DataSource database;

    /** Uses a pool of connections. */
    public JdbcOrders(DataSource database) {
        this.database = database;
    }

    /** Reads a row. */
    private interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** Works on one connection. */
    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Two queries on one connection. */
    public Optional<Order> find(long id) throws SQLException {
        return inTransaction(true, connection -> {
            List<Order.Head> head = query(connection, Sql.ORDER, row -> new Order.Head(
                    row.getLong(1), row.getInt(2), row.getObject(3, OffsetDateTime.class), row.getString(4)), id);
            if (head.isEmpty()) {
                return Optional.empty();
            }
            return Optional.of(head.getFirst().with(query(connection, Sql.LINES, row -> new Order.Line(
                    row.getInt(1), row.getInt(2), row.getString(3), row.getInt(4), row.getInt(5)), id)));
        });
    }

    /** A transaction of four statements. */
    public long place(int customer, int product, int quantity) throws SQLException {
        return inTransaction(false, connection -> {
            int price = query(connection, Sql.PRICE, row -> row.getInt(1), product).getFirst();
            long order = query(connection, Sql.NEW_ORDER, row -> row.getLong(1), customer).getFirst();
            update(connection, Sql.NEW_LINE, order, product, quantity, price);
            update(connection, Sql.TAKE, quantity, product);
            return order;
        });
    }

    /** Takes a quantity of a product from the stock. */
    public void take(int product, int quantity) throws SQLException {
        try (Connection connection = database.getConnection()) {
            update(connection, Sql.TAKE, quantity, product);
        }
    }

    /** The remaining stock of a product. */
    public int stock(int product) throws SQLException {
        try (Connection connection = database.getConnection()) {
            return query(connection, Sql.STOCK, row -> row.getInt(1), product).getFirst();
        }
    }

    /** The products that the customers with a hundred consecutive numbers bought most. */
    public List<Bought> search(int firstCustomer) throws SQLException {
        try (Connection connection = database.getConnection()) {
            return query(connection, Sql.SEARCH, row -> new Bought(row.getString(1), row.getLong(2), row.getLong(3)),
                    firstCustomer, firstCustomer + 99);
        }
    }

    /** Begins a transaction as Spring does. For one that only reads, PostgreSQL's driver sends {@code BEGIN READ ONLY}. */
    private <T> T inTransaction(boolean isReadOnly, Work<T> work) throws SQLException {
        try (Connection connection = database.getConnection()) {
            connection.setReadOnly(isReadOnly);
            connection.setAutoCommit(false);
            try {
                T done = work.on(connection);
                connection.commit();
                return done;
            } catch (SQLException | RuntimeException failed) {
                connection.rollback();
                throw failed;
            } finally {
                connection.setReadOnly(false);
            }
        }
    }

    private static <T> List<T> query(Connection connection, String sql, Row<T> read, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            var rows = new ArrayList<T>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    rows.add(read.read(row));
                }
            }
            return rows;
        }
    }

    private static void update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            statement.executeUpdate();
        }
    }

    private static void bind(PreparedStatement statement, Object... values) throws SQLException {
        for (int place = 0; place < values.length; place++) {
            statement.setObject(place + 1, values[place]);
        }
    }
}
