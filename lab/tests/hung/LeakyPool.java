import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Requests that take a connection of a real HikariCP (ten, over H2, without JMX). "leaked": ten were taken and never given back.
 * "neighbour": each holds one while it asks a service that does not respond. It prints "up", with the port of the service where there
 * is one, when all wait.
 */
class LeakyPool {
    static final int CONNECTIONS = 10;
    static final List<Connection> LEAKED = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setDriverClassName("org.h2.Driver");
        config.setJdbcUrl("jdbc:h2:mem:orders");
        config.setMaximumPoolSize(CONNECTIONS);
        config.setConnectionTimeout(600_000);
        HikariDataSource pool = new HikariDataSource(config);
        String up = "up";
        if (arguments[0].equals("leaked")) {
            for (int i = 0; i < CONNECTIONS; i++) {
                LEAKED.add(pool.getConnection());
            }
            serve(20, () -> find(pool));
            waitFor(pool, 20);
        } else {
            // Its queue takes the connections; nobody accepts or responds.
            ServerSocket silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
            up += " " + silent.getLocalPort();
            serve(40, () -> price(pool, silent.getLocalPort()));
            waitFor(pool, 40 - CONNECTIONS);
        }
        System.out.println(up);
        Thread.sleep(600_000);
    }

    interface Request {
        void handle() throws Exception;
    }

    static void serve(int requests, Request request) {
        for (int i = 0; i < requests; i++) {
            Thread.ofVirtual().name("request-" + i).start(() -> {
                try {
                    request.handle();
                } catch (Exception failed) {
                    throw new IllegalStateException(failed);
                }
            });
        }
    }

    static void find(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.createStatement().execute("SELECT 1");
        }
    }

    static void price(HikariDataSource pool, int port) throws Exception {
        try (Connection connection = pool.getConnection()) {
            try (Socket neighbour = new Socket(InetAddress.getLoopbackAddress(), port); InputStream in = neighbour.getInputStream()) {
                in.read();
            }
        }
    }

    static void waitFor(HikariDataSource pool, int waiting) throws InterruptedException {
        while (pool.getHikariPoolMXBean().getThreadsAwaitingConnection() < waiting) {
            Thread.sleep(10);
        }
    }
}
