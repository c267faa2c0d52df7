//! The end of a Java server that a test brings as source.

/// Responds `ok` on the port of its first argument, `port[0]`: the end of a Java `main`. One request at a time, each after 5 ms:
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
