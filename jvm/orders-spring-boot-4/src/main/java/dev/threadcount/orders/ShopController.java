package dev.threadcount.orders;

import dev.threadcount.orders.common.Bought;
import dev.threadcount.orders.common.Invoice;
import dev.threadcount.orders.common.Order;
import dev.threadcount.orders.common.Placed;
import dev.threadcount.orders.common.Quote;
import dev.threadcount.orders.common.Stock;
import dev.threadcount.threadinfo.ThreadInfo;
import java.io.IOException;
import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The contract of the shop, which all its servers have. */
@RestController
class ShopController {
    private final Orders orders;
    private final Neighbour neighbour;
    private final Object stockLock = new Object();

    ShopController(Orders orders, Neighbour neighbour) {
        this.orders = orders;
        this.neighbour = neighbour;
    }

    @GetMapping("/orders/{id}")
    ResponseEntity<Order> order(@PathVariable long id) {
        return ResponseEntity.of(orders.find(id));
    }

    @PostMapping("/orders")
    Placed place(@RequestParam int customer, @RequestParam int product, @RequestParam(defaultValue = "1") int quantity) {
        return new Placed(orders.place(customer, product, quantity));
    }

    @GetMapping("/search")
    List<Bought> search(@RequestParam int customer) {
        return orders.search(customer);
    }

    @GetMapping("/quote/{product}")
    Quote quote(@PathVariable int product) {
        return new Quote(product, neighbour.priceCents(product));
    }

    @GetMapping(path = "/invoice/{id}", produces = MediaType.APPLICATION_PDF_VALUE)
    ResponseEntity<byte[]> invoice(@PathVariable long id, @RequestParam(defaultValue = "1") int copies) throws IOException {
        var order = orders.find(id);
        return order.isPresent() ? ResponseEntity.ok(Invoice.pdf(order.get(), copies)) : ResponseEntity.notFound().build();
    }

    /** Holds a lock over I/O, as programs do that were written when this was cheap. Java 21 pins a virtual thread here. */
    @PostMapping("/stock/{product}")
    Stock stock(@PathVariable int product, @RequestParam(defaultValue = "1") int quantity) {
        synchronized (stockLock) {
            orders.take(product, quantity);
            return new Stock(product, orders.stock(product));
        }
    }

    @GetMapping(path = "/thread-info", params = "format=json")
    ThreadInfo threadInfo() {
        return ThreadInfo.ofThisThread();
    }
}
