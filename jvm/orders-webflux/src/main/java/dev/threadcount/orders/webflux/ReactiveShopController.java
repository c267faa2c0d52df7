package dev.threadcount.orders.webflux;

import dev.threadcount.orders.common.Bought;
import dev.threadcount.orders.common.Invoice;
import dev.threadcount.orders.common.Order;
import dev.threadcount.orders.common.Placed;
import dev.threadcount.orders.common.Quote;
import dev.threadcount.orders.common.Stock;
import dev.threadcount.threadinfo.ThreadInfo;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The contract of the shop, which all its servers have. */
@RestController
class ReactiveShopController {
    private final ReactiveOrders orders;
    private final WebClient neighbour;
    private final Turns turns = new Turns();

    ReactiveShopController(ReactiveOrders orders, @Value("${shop.neighbour}") String neighbour) {
        this.orders = orders;
        this.neighbour = WebClient.create(neighbour);
    }

    @GetMapping("/orders/{id}")
    Mono<ResponseEntity<Order>> order(@PathVariable long id) {
        return orders.find(id).map(ResponseEntity::ok).defaultIfEmpty(ResponseEntity.notFound().build());
    }

    @PostMapping("/orders")
    Mono<Placed> place(
            @RequestParam int customer, @RequestParam int product, @RequestParam(defaultValue = "1") int quantity) {
        return orders.place(customer, product, quantity).map(Placed::new);
    }

    @GetMapping("/search")
    Mono<List<Bought>> search(@RequestParam int customer) {
        return orders.search(customer);
    }

    @GetMapping("/quote/{product}")
    Mono<Quote> quote(@PathVariable int product) {
        return neighbour.get().uri("/price/{product}", product).retrieve().bodyToMono(String.class)
                .map(price -> new Quote(product, Integer.parseInt(price)));
    }

    /** Needs CPU, so it does not run on the event loop. */
    @GetMapping(path = "/invoice/{id}", produces = MediaType.APPLICATION_PDF_VALUE)
    Mono<ResponseEntity<byte[]>> invoice(@PathVariable long id, @RequestParam(defaultValue = "1") int copies) {
        Mono<byte[]> pdf = orders.find(id)
                .flatMap(order -> Mono.fromCallable(() -> Invoice.pdf(order, copies)).subscribeOn(Schedulers.parallel()));
        return pdf.map(ResponseEntity::ok).defaultIfEmpty(ResponseEntity.notFound().build());
    }

    /** Runs one at a time, like the lock of the other servers. */
    @PostMapping("/stock/{product}")
    Mono<Stock> stock(@PathVariable int product, @RequestParam(defaultValue = "1") int quantity) {
        return turns.after(orders.take(product, quantity).then(orders.stock(product)).map(left -> new Stock(product, left)));
    }

    @GetMapping(path = "/thread-info", params = "format=json")
    ThreadInfo threadInfo() {
        return ThreadInfo.ofThisThread();
    }
}
