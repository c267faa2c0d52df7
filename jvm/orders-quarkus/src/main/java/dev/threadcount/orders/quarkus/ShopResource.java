package dev.threadcount.orders.quarkus;

import dev.threadcount.orders.common.Bought;
import dev.threadcount.orders.common.Invoice;
import dev.threadcount.orders.common.JdbcOrders;
import dev.threadcount.orders.common.Order;
import dev.threadcount.orders.common.Placed;
import dev.threadcount.orders.common.Quote;
import dev.threadcount.orders.common.Stock;
import dev.threadcount.threadinfo.ThreadInfo;
import io.agroal.api.AgroalDataSource;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * The contract of the shop on Quarkus. Each request runs on a virtual thread, or on the worker pool if it was built with {@code
 * quarkus.virtual-threads.enabled=false}.
 */
@Path("/")
@RunOnVirtualThread
@Produces(MediaType.APPLICATION_JSON)
public class ShopResource {
    private final JdbcOrders orders;
    private final String neighbour;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
    private final Object stockLock = new Object();

    /** Made by Quarkus. */
    public ShopResource(AgroalDataSource database, @ConfigProperty(name = "shop.neighbour") String neighbour) {
        this.orders = new JdbcOrders(database);
        this.neighbour = neighbour;
    }

    /** One order with its lines. */
    @GET
    @Path("orders/{id}")
    public Order order(@PathParam("id") long id) throws SQLException {
        return orders.find(id).orElseThrow(NotFoundException::new);
    }

    /** Runs a transaction of four statements. */
    @POST
    @Path("orders")
    public Placed place(
            @QueryParam("customer") int customer,
            @QueryParam("product") int product,
            @QueryParam("quantity") @DefaultValue("1") int quantity) throws SQLException {
        return new Placed(orders.place(customer, product, quantity));
    }

    /** The products that a hundred customers bought most. */
    @GET
    @Path("search")
    public List<Bought> search(@QueryParam("customer") int customer) throws SQLException {
        return orders.search(customer);
    }

    /** Asks the neighbour. */
    @GET
    @Path("quote/{product}")
    public Quote quote(@PathParam("product") int product) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(neighbour + "/price/" + product)).build();
        return new Quote(product, Integer.parseInt(http.send(request, HttpResponse.BodyHandlers.ofString()).body()));
    }

    /** The order as a PDF. */
    @GET
    @Path("invoice/{id}")
    @Produces("application/pdf")
    public byte[] invoice(@PathParam("id") long id, @QueryParam("copies") @DefaultValue("1") int copies) throws SQLException, IOException {
        return Invoice.pdf(order(id), copies);
    }

    /** Holds a lock over I/O. */
    @POST
    @Path("stock/{product}")
    public Stock stock(@PathParam("product") int product, @QueryParam("quantity") @DefaultValue("1") int quantity)
            throws SQLException {
        synchronized (stockLock) {
            orders.take(product, quantity);
            return new Stock(product, orders.stock(product));
        }
    }

    /** The thread that handles the request. */
    @GET
    @Path("thread-info")
    public ThreadInfo threadInfo() {
        return ThreadInfo.ofThisThread();
    }
}
