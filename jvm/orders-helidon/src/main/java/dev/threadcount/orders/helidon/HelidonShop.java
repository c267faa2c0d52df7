package dev.threadcount.orders.helidon;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.threadcount.orders.common.Invoice;
import dev.threadcount.orders.common.JdbcOrders;
import dev.threadcount.orders.common.Order;
import dev.threadcount.orders.common.Placed;
import dev.threadcount.orders.common.Quote;
import dev.threadcount.orders.common.Stock;
import dev.threadcount.threadinfo.ThreadInfo;
import io.helidon.config.Config;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webclient.api.WebClient;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.Optional;

/** The contract of the shop on Helidon SE: each request has a virtual thread, and the code simply blocks. */
public final class HelidonShop {
    private final JdbcOrders orders;
    private final WebClient neighbour;
    private final Object stockLock = new Object();
    private final ObjectMapper json = new ObjectMapper()
            .registerModule(new JavaTimeModule())
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS);

    private HelidonShop(JdbcOrders orders, String neighbour) {
        this.orders = orders;
        this.neighbour = WebClient.builder().baseUri(neighbour).build();
    }

    /** Starts the shop as {@code server} in its configuration says, for example at the port in {@code SERVER_PORT}. */
    public static void main(String[] args) {
        var pool = new HikariConfig();
        pool.setJdbcUrl(System.getenv("SPRING_DATASOURCE_URL"));
        pool.setUsername(System.getenv("SPRING_DATASOURCE_USERNAME"));
        pool.setPassword(System.getenv("SPRING_DATASOURCE_PASSWORD"));
        pool.setMaximumPoolSize(10);
        pool.setRegisterMbeans(true);
        var shop = new HelidonShop(new JdbcOrders(new HikariDataSource(pool)), System.getenv("SHOP_NEIGHBOUR"));
        WebServer.builder()
                .config(Config.create().get("server"))
                .host("127.0.0.1")
                .backlog(4_096)
                .routing(routing -> routing.register("/", rules -> shop.route(rules)))
                .build()
                .start();
    }

    private void route(HttpRules rules) {
        rules.get("/orders/{id}", this::order)
                .post("/orders", this::place)
                .get("/search", (request, response) -> send(response, orders.search(number(request, "customer", 1))))
                .get("/quote/{product}", this::quote)
                .get("/invoice/{id}", this::invoice)
                .post("/stock/{product}", this::stock)
                .get("/thread-info", (request, response) -> send(response, ThreadInfo.ofThisThread()));
    }

    private void order(ServerRequest request, ServerResponse response) throws Exception {
        Optional<Order> order = orders.find(id(request));
        if (order.isPresent()) {
            send(response, order.get());
        } else {
            response.status(Status.NOT_FOUND_404).send();
        }
    }

    private void place(ServerRequest request, ServerResponse response) throws Exception {
        int customer = number(request, "customer", 1);
        send(response, new Placed(orders.place(customer, number(request, "product", 1), number(request, "quantity", 1))));
    }

    private void quote(ServerRequest request, ServerResponse response) throws Exception {
        int product = Integer.parseInt(request.path().pathParameters().get("product"));
        String price = neighbour.get("/price/" + product).requestEntity(String.class);
        send(response, new Quote(product, Integer.parseInt(price)));
    }

    private void invoice(ServerRequest request, ServerResponse response) throws Exception {
        Optional<Order> order = orders.find(id(request));
        if (order.isPresent()) {
            response.header(HeaderNames.CONTENT_TYPE, "application/pdf").send(Invoice.pdf(order.get(), number(request, "copies", 1)));
        } else {
            response.status(Status.NOT_FOUND_404).send();
        }
    }

    /** Holds a lock over I/O. */
    private void stock(ServerRequest request, ServerResponse response) throws Exception {
        int product = Integer.parseInt(request.path().pathParameters().get("product"));
        int left;
        synchronized (stockLock) {
            orders.take(product, number(request, "quantity", 1));
            left = orders.stock(product);
        }
        send(response, new Stock(product, left));
    }

    private void send(ServerResponse response, Object body) throws Exception {
        response.header(HeaderNames.CONTENT_TYPE, "application/json").send(json.writeValueAsBytes(body));
    }

    private static long id(ServerRequest request) {
        return Long.parseLong(request.path().pathParameters().get("id"));
    }

    private static int number(ServerRequest request, String name, int otherwise) {
        return request.query().first(name).map(Integer::parseInt).orElse(otherwise);
    }
}
