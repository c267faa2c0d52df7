package dev.threadcount.orders.webflux;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** A pool with as many connections as the other servers have, with the settings that Spring's starter would add. */
@Configuration
@EnableTransactionManagement
class DatabaseConfiguration {
    private static final int CONNECTIONS = 10;

    @Bean
    ConnectionPool pool(
            @Value("${spring.r2dbc.url}") String url,
            @Value("${spring.r2dbc.username}") String user,
            @Value("${spring.r2dbc.password}") String password) {
        var options = ConnectionFactoryOptions.parse(url).mutate()
                .option(ConnectionFactoryOptions.USER, user)
                .option(ConnectionFactoryOptions.PASSWORD, password)
                .build();
        var pool = ConnectionPoolConfiguration.builder(ConnectionFactories.get(options))
                .initialSize(CONNECTIONS)
                .maxSize(CONNECTIONS)
                .maxAcquireTime(Duration.ofSeconds(30))
                .build();
        return new ConnectionPool(pool);
    }

    @Bean
    DatabaseClient databaseClient(ConnectionFactory pool) {
        return DatabaseClient.create(pool);
    }

    @Bean
    ReactiveTransactionManager transactionManager(ConnectionFactory pool) {
        return new R2dbcTransactionManager(pool);
    }
}
