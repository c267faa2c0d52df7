package dev.threadcount.orders.backend;

import java.io.IOException;

/**
 * What the shop needs, in one process tree: a PostgreSQL with 100,000 orders, and the slow neighbour on the port given.
 * {@code GET /database} responds with the URL of the database, once it is ready.
 */
public final class OrdersBackend {
    private OrdersBackend() {}

    /**
     * Starts both and runs until it is terminated; then the database is stopped and removed.
     *
     * @param arguments {@code --port=PORT}
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length != 1 || !arguments[0].matches("--port=\\d+")) {
            System.err.println("usage: java -jar orders-backend.jar --port=PORT");
            System.exit(2);
        }
        int port = Integer.parseInt(arguments[0].substring("--port=".length()));
        PostgresCluster database = PostgresCluster.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(database)));
        database.execute(PostgresCluster.resource("/shop.sql"));
        new Neighbour(port, urlOf(database)).start();
    }

    static String urlOf(PostgresCluster database) {
        return "jdbc:postgresql://127.0.0.1:%d/postgres?user=%s&password=%s"
                .formatted(database.port(), PostgresCluster.USER, database.password());
    }

    private static void close(PostgresCluster database) {
        try {
            database.close();
        } catch (IOException failed) {
            failed.printStackTrace();
        }
    }
}
