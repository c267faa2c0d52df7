package dev.threadcount.orders.quarkus.reactive;

import dev.threadcount.orders.common.Bought;
import dev.threadcount.orders.common.Invoice;
import dev.threadcount.orders.common.Order;
import dev.threadcount.orders.common.Placed;
import dev.threadcount.orders.common.Quote;
import dev.threadcount.orders.common.Stock;
import dev.threadcount.threadinfo.ThreadInfo;
import io.smallrye.common.annotation.NonBlocking;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.smallrye.mutiny.unchecked.Unchecked;
import io.vertx.mutiny.sqlclient.Pool;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The contract of the shop on an event loop. */
@Path("/")
@NonBlocking
@Produces(MediaType.APPLICATION_JSON)
public class ReactiveShopResource {
    private final ReactiveOrders orders;
    private final String neighbour;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
    private final Turns turns = new Turns();

    /** Made by Quarkus. */
    public ReactiveShopResource(Pool database, @ConfigProperty(name = "shop.neighbour") String neighbour) {
        this.orders = new ReactiveOrders(database);
        this.neighbour = neighbour;
    }

    /** One order with its lines. */
    @GET
    @Path("orders/{id}")
    public Uni<Order> order(@PathParam("id") long id) {
        return orders.find(id).onItem().ifNull().failWith(NotFoundException::new);
    }

    /** Runs a transaction of four statements. */
    @POST
    @Path("orders")
    public Uni<Placed> place(
            @QueryParam("customer") int customer,
            @QueryParam("product") int product,
            @QueryParam("quantity") @DefaultValue("1") int quantity) {
        return orders.place(customer, product, quantity).map(Placed::new);
    }

    /** The products that a hundred customers bought most. */
    @GET
    @Path("search")
    public Uni<List<Bought>> search(@QueryParam("customer") int customer) {
        return orders.search(customer);
    }

    /** Asks the neighbour. */
    @GET
    @Path("quote/{product}")
    public Uni<Quote> quote(@PathParam("product") int product) {
        var request = HttpRequest.newBuilder(URI.create(neighbour + "/price/" + product)).build();
        return Uni.createFrom()
                .completionStage(() -> http.sendAsync(request, HttpResponse.BodyHandlers.ofString()))
                .map(response -> new Quote(product, Integer.parseInt(response.body())));
    }

    /** Needs CPU, so it does not run on the event loop. */
    @GET
    @Path("invoice/{id}")
    @Produces("application/pdf")
    public Uni<byte[]> invoice(@PathParam("id") long id, @QueryParam("copies") @DefaultValue("1") int copies) {
        return order(id).emitOn(Infrastructure.getDefaultExecutor()).map(Unchecked.function(order -> Invoice.pdf(order, copies)));
    }

    /** Runs one at a time, like the lock of the other servers. */
    @POST
    @Path("stock/{product}")
    public Uni<Stock> stock(@PathParam("product") int product, @QueryParam("quantity") @DefaultValue("1") int quantity) {
        return turns.after(orders.take(product, quantity).chain(() -> orders.stock(product)).map(left -> new Stock(product, left)));
    }

    /** The thread that handles the request. */
    @GET
    @Path("thread-info")
    public ThreadInfo threadInfo() {
        return ThreadInfo.ofThisThread();
    }
}
