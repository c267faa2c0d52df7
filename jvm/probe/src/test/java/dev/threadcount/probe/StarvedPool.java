package dev.threadcount.probe;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.tomcat.jdbc.pool.PoolProperties;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A program with a connection pool whose connections are all taken, for the probe to read. */
public final class StarvedPool {
    private static final String H2 = "jdbc:h2:mem:shop";
    private static final int LONG_MS = 600_000;

    private StarvedPool() {}

    /** Takes a connection. Closing it returns it. */
    private interface Pool {
        AutoCloseable take() throws Exception;
    }

    /**
     * The arguments are the pool's library, the number of connections, all of which are taken, the number of waiting threads, and where the
     * probe writes its lines.
     */
    public static void main(String[] arguments) throws Exception {
        int size = Integer.parseInt(arguments[1]);
        Pool pool = pool(arguments[0], size);
        List<AutoCloseable> taken = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            taken.add(pool.take());
        }
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            threads.add(Thread.ofPlatform().start(() -> takeAndGiveBack(pool)));
        }
        while (threads.stream().anyMatch(thread -> thread.getState() != Thread.State.TIMED_WAITING
                && thread.getState() != Thread.State.WAITING)) {
            Thread.sleep(10);
        }
        waitForReadingAfter(System.nanoTime(), Path.of(arguments[3]));
        for (AutoCloseable connection : taken) {
            connection.close();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        // Some pools have threads that would keep the JVM alive.
        System.exit(0);
    }

    private static Pool pool(String library, int size) throws Exception {
        return switch (library) {
            case "hikari" -> hikari(size, false)::getConnection;
            case "hikari-with-jmx" -> hikari(size, true)::getConnection;
            case "tomcat-jdbc" -> tomcatJdbc(size)::getConnection;
            case "agroal" -> agroal(size)::getConnection;
            case "commons-pool2" -> commonsPool(size);
            case "commons-dbcp2" -> dbcp2(size, null)::getConnection;
            case "commons-dbcp2-with-jmx" -> dbcp2(size, "shop:type=DataSource")::getConnection;
            case "r2dbc-pool" -> r2dbc(size);
            case "jetty-client" -> new JettyClient(size, false)::take;
            case "jetty-client-tls" -> new JettyClient(size, true)::take;
            default -> throw new IllegalArgumentException(library);
        };
    }

    private static DataSource hikari(int size, boolean jmx) {
        var config = new HikariConfig();
        config.setPoolName("shop");
        config.setJdbcUrl(H2);
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(LONG_MS);
        config.setRegisterMbeans(jmx);
        return new HikariDataSource(config);
    }

    private static DataSource tomcatJdbc(int size) {
        var properties = new PoolProperties();
        properties.setName("shop");
        properties.setUrl(H2);
        properties.setDriverClassName("org.h2.Driver");
        properties.setMaxActive(size);
        properties.setMaxWait(LONG_MS);
        properties.setJmxEnabled(false);
        return new org.apache.tomcat.jdbc.pool.DataSource(properties);
    }

    /** Configured as in Quarkus: it looks for idle connections from time to time. */
    private static DataSource agroal(int size) throws SQLException {
        return AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier().connectionPoolConfiguration(pool -> pool.maxSize(size)
                .reapTimeout(Duration.ofMinutes(5))
                .connectionFactoryConfiguration(factory -> factory.jdbcUrl(H2))));
    }

    /** Looks for idle connections in the background. The application chooses the name of its bean. */
    private static DataSource dbcp2(int size, String bean) {
        var pool = new BasicDataSource();
        pool.setUrl(H2);
        pool.setMaxTotal(size);
        pool.setJmxName(bean);
        pool.setDurationBetweenEvictionRuns(Duration.ofMinutes(5));
        return pool;
    }

    /** Configured as in clients of Redis: with a bean, and a background search for idle objects. */
    private static Pool commonsPool(int size) {
        var pool = new GenericObjectPool<>(new BasePooledObjectFactory<Object>() {
            @Override
            public Object create() {
                return new Object();
            }

            @Override
            public PooledObject<Object> wrap(Object object) {
                return new DefaultPooledObject<>(object);
            }
        });
        pool.setMaxTotal(size);
        pool.setDurationBetweenEvictionRuns(Duration.ofMinutes(5));
        return () -> {
            Object taken = pool.borrowObject();
            return () -> pool.returnObject(taken);
        };
    }

    /** A pool over a database whose connections do nothing. By default it looks for idle ones in the background. */
    private static Pool r2dbc(int size) {
        var connection = (io.r2dbc.spi.Connection) Proxy.newProxyInstance(StarvedPool.class.getClassLoader(),
                new Class<?>[] {io.r2dbc.spi.Connection.class}, (proxy, method, arguments) ->
                        method.getReturnType() == Publisher.class ? Mono.empty() : method.getReturnType() == boolean.class);
        ConnectionFactory database = new ConnectionFactory() {
            @Override
            public Publisher<io.r2dbc.spi.Connection> create() {
                return Mono.just(connection);
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return () -> "nothing";
            }
        };
        var pool = new ConnectionPool(ConnectionPoolConfiguration.builder(database).initialSize(0).maxSize(size).build());
        return () -> {
            io.r2dbc.spi.Connection taken = pool.create().block();
            return () -> Mono.from(taken.close()).block();
        };
    }

    private static void takeAndGiveBack(Pool pool) {
        try (AutoCloseable connection = pool.take()) {
            Objects.requireNonNull(connection);
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Waits for a reading of the JVM, because a pool that the probe does not find has none. */
    private static void waitForReadingAfter(long timeNs, Path lines) throws IOException, InterruptedException {
        Pattern reading = Pattern.compile("\"type\":\"sample\",\"t_ns\":(\\d+)");
        // Names of beans, and tasks, are searched at every tenth reading.
        while (reading.matcher(Files.readString(lines)).results().filter(found -> Long.parseLong(found.group(1)) > timeNs).count() < 12) {
            Thread.sleep(50);
        }
    }
}
