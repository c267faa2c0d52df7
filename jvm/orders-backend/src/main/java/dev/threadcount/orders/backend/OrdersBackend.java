package dev.threadcount.orders.backend;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Starts what is behind the shop: its database, the slow neighbour, or a proxy that uses CPU. Each runs in a separate process. */
public final class OrdersBackend {
    private static final String USAGE = """
            usage: java -jar orders-backend.jar database --port=PORT    (the password in SHOP_PASSWORD)
                   java -jar orders-backend.jar neighbour --port=PORT [--stall-ms=5000 --stall-every-ms=20000]
                   java -jar orders-backend.jar proxy --port=PORT --to=PORT --cpu-us=500""";

    private OrdersBackend() {}

    /**
     * Starts one of them and runs until it is terminated.
     *
     * @param arguments which one, and its settings
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 0) {
            System.err.println(USAGE);
            System.exit(2);
        }
        Map<String, Integer> settings = settings(Arrays.copyOfRange(arguments, 1, arguments.length));
        int port = settings.getOrDefault("port", 0);
        switch (arguments[0]) {
            case "database" -> {
                PostgresCluster database = startDatabase(port, Objects.requireNonNull(System.getenv("SHOP_PASSWORD"), USAGE));
                Runtime.getRuntime().addShutdownHook(new Thread(() -> close(database)));
                database.waitForItsEnd();
            }
            case "neighbour" -> startNeighbour(
                    port, settings.getOrDefault("stall-ms", 0), settings.getOrDefault("stall-every-ms", 0));
            case "proxy" -> new CpuProxy(port, settings.get("to"), settings.getOrDefault("cpu-us", 0)).start();
            default -> throw new IllegalArgumentException(USAGE);
        }
    }

    /** Starts the database with its 100,000 orders. Closing it stops and removes it. */
    public static PostgresCluster startDatabase(int port, String password) throws IOException, InterruptedException {
        return PostgresCluster.start(port, password, PostgresCluster.resource("/shop.sql"));
    }

    /** Starts the neighbour. With two times, it stalls for the first time at the end of each second time. Closing it stops it. */
    public static AutoCloseable startNeighbour(int port, int stallMs, int stallEveryMs) throws IOException {
        var neighbour = new Neighbour(port, stallMs, stallEveryMs);
        neighbour.start();
        return neighbour::stop;
    }

    private static Map<String, Integer> settings(String[] arguments) {
        var settings = new HashMap<String, Integer>();
        for (String argument : arguments) {
            if (!argument.matches("--[a-z-]+=\\d+")) {
                throw new IllegalArgumentException(argument + "; " + USAGE);
            }
            String[] parts = argument.substring(2).split("=");
            settings.put(parts[0], Integer.valueOf(parts[1]));
        }
        return settings;
    }

    private static void close(PostgresCluster database) {
        try {
            database.close();
        } catch (IOException failed) {
            failed.printStackTrace();
        }
    }
}
