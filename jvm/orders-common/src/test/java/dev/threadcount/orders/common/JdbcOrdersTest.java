package dev.threadcount.orders.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class JdbcOrdersTest {
    private final List<String> calls = new ArrayList<>();

    @Test
    void orderIsReadInAReadOnlyTransactionAndTheConnectionIsGivenBackAsItWas() throws Exception {
        var orders = new JdbcOrders(database(false));
        assertEquals(Optional.empty(), orders.find(1));
        assertEquals(
                List.of("setReadOnly true", "setAutoCommit false", "prepareStatement", "commit", "setReadOnly false", "close"), calls);
    }

    @Test
    void transactionThatFailsIsRolledBackAndTheConnectionIsGivenBackAsItWas() {
        var orders = new JdbcOrders(database(true));
        assertThrows(SQLException.class, () -> orders.find(1));
        assertEquals(
                List.of("setReadOnly true", "setAutoCommit false", "prepareStatement", "rollback", "setReadOnly false", "close"), calls);
    }

    @Test
    void orderIsPlacedInATransactionThatWrites() {
        var orders = new JdbcOrders(database(true));
        assertThrows(SQLException.class, () -> orders.place(7, 3, 2));
        assertEquals("setReadOnly false", calls.getFirst());
    }

    /** A database without rows. If it fails, it accepts no statement. */
    private DataSource database(boolean fails) {
        ResultSet noRows = with(ResultSet.class, (method, argument) -> false);
        PreparedStatement statement =
                with(PreparedStatement.class, (method, argument) -> method.equals("executeQuery") ? noRows : null);
        Connection connection = with(Connection.class, (method, argument) -> {
            boolean isStatement = method.equals("prepareStatement");
            calls.add(isStatement || argument == null ? method : method + " " + argument);
            if (isStatement && fails) {
                throw new SQLException("the database is gone");
            }
            return isStatement ? statement : null;
        });
        return with(DataSource.class, (method, argument) -> connection);
    }

    /** The behaviour of a method, given its first argument. */
    private interface Behaviour {
        Object call(String method, Object argument) throws SQLException;
    }

    private static <T> T with(Class<T> type, Behaviour behaviour) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
                (proxy, method, arguments) -> behaviour.call(method.getName(), arguments == null ? null : arguments[0])));
    }
}
