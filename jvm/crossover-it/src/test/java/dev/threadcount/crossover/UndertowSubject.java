package dev.threadcount.crossover;

import io.undertow.Undertow;
import java.net.InetSocketAddress;

/** A server with worker threads that belong to its I/O library. */
final class UndertowSubject implements Subject {
    private final Undertow server = Undertow.builder().addHttpListener(0, "127.0.0.1")
            .setHandler(exchange -> exchange.getResponseSender().send("here")).build();

    private UndertowSubject() {
        server.start();
    }

    @Override
    public int port() {
        return ((InetSocketAddress) server.getListenerInfo().getFirst().getAddress()).getPort();
    }

    @Override
    public void stop() {
        server.stop();
    }

    @Override
    public Object executor() {
        return server.getWorker();
    }

    public static void main(String[] arguments) throws Exception {
        Subject.serve(new UndertowSubject());
    }
}
