package dev.threadcount.probe.crossover;

/** A server that cannot be switched; the message is the reason. */
final class UnsupportedServer extends Exception {
    private static final long serialVersionUID = 1;

    private final int port;
    private final String product;

    UnsupportedServer(int port, String product, String why) {
        super(why, null, false, false);
        this.port = port;
        this.product = product;
    }

    int port() {
        return port;
    }

    String product() {
        return product;
    }
}
