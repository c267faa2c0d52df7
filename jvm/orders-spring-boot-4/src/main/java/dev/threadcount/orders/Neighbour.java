package dev.threadcount.orders;

import java.net.http.HttpClient;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** The slow service that the shop asks for prices. */
@Component
class Neighbour {
    private final RestClient client;

    Neighbour(@Value("${shop.neighbour}") String url) {
        var http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
        this.client = RestClient.builder().baseUrl(url).requestFactory(new JdkClientHttpRequestFactory(http)).build();
    }

    int priceCents(int product) {
        return Integer.parseInt(client.get().uri("/price/{product}", product).retrieve().body(String.class));
    }
}
