package dev.threadcount.probe;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** A program with a connection pool whose connections are all taken, for the probe to read. */
public final class StarvedPool {
    private static final Pattern READING = Pattern.compile("\"type\":\"pool\",\"t_ns\":(\\d+),\"kind\":\"hikari\"");

    private StarvedPool() {}

    /** Connections of the pool, all of them taken; threads that wait for one; where the probe writes its lines. */
    public static void main(String[] arguments) throws Exception {
        int size = Integer.parseInt(arguments[0]);
        int waiting = Integer.parseInt(arguments[1]);
        var config = new HikariConfig();
        config.setPoolName("shop");
        config.setJdbcUrl("jdbc:h2:mem:shop");
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(600_000);
        config.setRegisterMbeans(true);
        try (var pool = new HikariDataSource(config)) {
            List<Connection> taken = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                taken.add(pool.getConnection());
            }
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < waiting; i++) {
                threads.add(Thread.ofPlatform().start(() -> takeAndGiveBack(pool)));
            }
            while (pool.getHikariPoolMXBean().getThreadsAwaitingConnection() < waiting) {
                Thread.sleep(10);
            }
            waitForReadingAfter(System.nanoTime(), Path.of(arguments[2]));
            for (Connection connection : taken) {
                connection.close();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    private static void takeAndGiveBack(HikariDataSource pool) {
        try (Connection connection = pool.getConnection()) {
            connection.isReadOnly();
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static void waitForReadingAfter(long timeNs, Path lines) throws IOException, InterruptedException {
        while (READING.matcher(Files.readString(lines)).results()
                .noneMatch(found -> Long.parseLong(found.group(1)) > timeNs)) {
            Thread.sleep(50);
        }
    }
}
