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
import java.util.concurrent.CountDownLatch;

/**
 * Requests that take a connection of a real HikariCP (ten, over H2, without JMX). "leaked": ten were taken and never given back.
 * "neighbour": each request holds one while it asks a service that does not respond. "carriers": those that have one sleep, and two others
 * want one in a synchronized block. Prints "up" when all wait, with the port of the service if there is one.
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
        } else if (arguments[0].equals("carriers")) {
            holdCarriers(pool);
        } else {
            // The queue of the socket takes the connections; nobody accepts or responds.
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

    static List<Thread> serve(int requests, Request request) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            threads.add(Thread.ofVirtual().name("request-" + i).start(() -> {
                try {
                    request.handle();
                } catch (Exception failed) {
                    throw new IllegalStateException(failed);
                }
            }));
        }
        return threads;
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

    /** On Java 21 with two carriers, no thread that has a connection can go on to give it back. */
    static void holdCarriers(HikariDataSource pool) throws Exception {
        CountDownLatch taken = new CountDownLatch(CONNECTIONS);
        serve(CONNECTIONS, () -> {
            try (Connection connection = pool.getConnection()) {
                taken.countDown();
                Thread.sleep(2_000);
            }
        });
        taken.await();
        List<Thread> both = serve(2, () -> take(pool));
        waitFor(pool, 1);
        while (both.stream().noneMatch(thread -> thread.getState() == Thread.State.BLOCKED)) {
            Thread.sleep(1);
        }
        Thread.sleep(2_500);
        serve(20, () -> find(pool));
    }

    static synchronized void take(HikariDataSource pool) throws SQLException {
        find(pool);
    }

    static void waitFor(HikariDataSource pool, int waiting) throws InterruptedException {
        while (pool.getHikariPoolMXBean().getThreadsAwaitingConnection() < waiting) {
            Thread.sleep(10);
        }
    }
}
