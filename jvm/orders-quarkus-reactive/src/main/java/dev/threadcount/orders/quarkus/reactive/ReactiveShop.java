package dev.threadcount.orders.quarkus.reactive;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;

/** The shop on Quarkus' event loop. {@code SPRING_R2DBC_URL} names the database, as for the other reactive server. */
@QuarkusMain
public final class ReactiveShop {
    private ReactiveShop() {}

    /** Starts the shop. */
    public static void main(String[] args) {
        String database = System.getenv("SPRING_R2DBC_URL");
        if (database != null) {
            System.setProperty("quarkus.datasource.reactive.url", database.replaceFirst("^r2dbc:", ""));
        }
        Quarkus.run(args);
    }
}
