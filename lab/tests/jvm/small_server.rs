//! The end of a Java server that a test writes as source.

/// The end of a Java `main`. It responds `ok` on the port in its first argument, `port[0]`, to one request at a time, each after 5 ms. So
/// neither clients nor server need the cores of other tests.
pub const SERVE: &str = "
        var server = HttpServer.create(new java.net.InetSocketAddress(\"127.0.0.1\", Integer.parseInt(port[0])), 9);
        server.createContext(\"/\", exchange -> {
            try { Thread.sleep(5); } catch (InterruptedException never) { throw new java.io.IOException(never); }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(\"ok\".getBytes());
            exchange.close();
        });
        server.start();
    }
}";
