package dev.threadcount.probe.stacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.pool.AbstractChannelPoolHandler;
import io.netty.channel.pool.FixedChannelPool;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.tomcat.jdbc.pool.PoolProperties;
import org.eclipse.jetty.client.HttpClient;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.springframework.http.HttpMethod;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import reactor.core.publisher.Mono;

/** Tests with stacks of real threads that wait for a connection of a real pool. */
class RealPoolsTest {
    private static final String H2 = "jdbc:h2:mem:pools";

    private static void assertWaitsFor(String pool, State state, String library, Callable<?> body) {
        for (boolean virtual : new boolean[] {false, true}) {
            try (var thread = virtual ? BlockedThread.virtual(body) : BlockedThread.platform(body)) {
                Activity activity = thread.activity(state);
                String what = (virtual ? "virtual: " : "platform: ") + activity;
                assertEquals(state, activity.state(), what);
                assertEquals(pool, activity.resource(), what);
                assertTrue(activity.library().startsWith(library), what);
                assertTrue(activity.application().startsWith(RealPoolsTest.class.getName() + "."), what);
            }
        }
    }

    /** The pool has one connection, which the test holds. */
    private static void assertWaits(String pool, String library, DataSource source) throws SQLException {
        try (var taken = source.getConnection()) {
            assertTrue(taken.isValid(10));
            assertWaitsFor(pool, State.POOL, library, () -> source.getConnection());
        }
    }

    @Test
    void hikari() throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(H2);
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(600_000);
        try (HikariDataSource source = new HikariDataSource(config)) {
            assertWaits("HikariCP", "com.zaxxer.hikari.util.ConcurrentBag.borrow:", source);
        }
    }

    @Test
    void tomcatJdbc() throws SQLException {
        for (boolean fair : new boolean[] {true, false}) {
            PoolProperties properties = new PoolProperties();
            properties.setUrl(H2);
            properties.setDriverClassName("org.h2.Driver");
            properties.setMaxActive(1);
            properties.setInitialSize(1);
            properties.setFairQueue(fair);
            properties.setMaxWait(600_000);
            var source = new org.apache.tomcat.jdbc.pool.DataSource(properties);
            assertWaits("Tomcat JDBC", "org.apache.tomcat.jdbc.pool.", source);
            source.close(true);
        }
    }

    @Test
    void dbcp2() throws SQLException {
        try (BasicDataSource source = new BasicDataSource()) {
            source.setUrl(H2);
            source.setMaxTotal(1);
            assertWaits("commons-dbcp2", "org.apache.commons.pool2.impl.", source);
        }
    }

    @Test
    void agroal() throws SQLException {
        var configuration = new AgroalDataSourceConfigurationSupplier().connectionPoolConfiguration(pool -> pool.maxSize(1)
                .acquisitionTimeout(Duration.ofMinutes(10))
                .connectionFactoryConfiguration(factory -> factory.jdbcUrl(H2)));
        try (AgroalDataSource source = AgroalDataSource.from(configuration)) {
            assertWaits("Agroal", "io.agroal.pool.ConnectionPool.", source);
        }
    }

    @Test
    void threadThatOpensAConnectionReadsAndDoesNotWaitForThePool() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            PoolProperties properties = new PoolProperties();
            properties.setUrl("jdbc:h2:tcp://127.0.0.1:" + silent.getLocalPort() + "/mem:none");
            properties.setDriverClassName("org.h2.Driver");
            properties.setInitialSize(0);
            var source = new org.apache.tomcat.jdbc.pool.DataSource(properties);
            assertWaitsFor(null, State.SOCKET, "org.h2.", () -> source.getConnection());
        }
    }

    @Test
    void apacheHttpClientWaitsForItsPoolWhileAnotherRequestReads() throws Exception {
        var connections = new PoolingHttpClientConnectionManager();
        connections.setMaxTotal(1);
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                CloseableHttpClient client = HttpClients.custom().setConnectionManager(connections).build()) {
            Callable<?> get = () -> client.execute(new HttpGet("http://127.0.0.1:" + silent.getLocalPort()), answer -> answer);
            try (var reads = BlockedThread.platform(get)) {
                Activity activity = reads.activity(State.SOCKET);
                assertEquals(State.SOCKET, activity.state(), activity.toString());
                assertWaitsFor("Apache HttpClient", State.POOL, "org.apache.hc.", get);
            }
        }
    }

    @Test
    void jettyClient() throws Exception {
        HttpClient client = new HttpClient();
        client.start();
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            assertWaitsFor("Jetty HttpClient", State.FUTURE, "org.eclipse.jetty.client.",
                    () -> client.GET("http://127.0.0.1:" + silent.getLocalPort()));
        } finally {
            client.stop();
        }
    }

    /** The client that RestClient and RestTemplate of Spring Boot use. */
    @Test
    void springOverTheClientOfTheJdk() throws Exception {
        var requests = new JdkClientHttpRequestFactory();
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            URI uri = URI.create("http://127.0.0.1:" + silent.getLocalPort());
            assertWaitsFor("java.net.http.HttpClient", State.FUTURE, "org.springframework.http.client.",
                    () -> requests.createRequest(uri, HttpMethod.GET).execute());
        }
    }

    /** Netty's pools keep no thread waiting. A thread that blocks nevertheless waits for a result. */
    @Test
    void nettyPool() throws Exception {
        var group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            Bootstrap bootstrap = new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .remoteAddress(silent.getLocalSocketAddress());
            try (var pool = new FixedChannelPool(bootstrap, new AbstractChannelPoolHandler() {
                @Override
                public void channelCreated(Channel channel) {}
            }, 1)) {
                pool.acquire().get();
                assertWaitsFor("Netty", State.FUTURE, "io.netty.util.concurrent.", () -> pool.acquire().get());
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    @Test
    void r2dbcPool() {
        ConnectionFactory never = new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return Mono.never();
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return () -> "never";
            }
        };
        ConnectionPool pool = new ConnectionPool(ConnectionPoolConfiguration.builder(never).maxSize(1).build());
        assertWaitsFor("Reactor", State.FUTURE, "reactor.core.", () -> pool.create().block());
    }
}
