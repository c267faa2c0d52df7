package dev.threadcount.orders.backend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The database and the neighbour for a test, in the test's process and on free ports. Closing it stops both. */
public final class LocalBackends implements AutoCloseable {
    private final int databasePort;
    private final int neighbourPort;
    private final PostgresCluster database;
    private final Neighbour neighbour;

    private LocalBackends(String password) throws IOException, InterruptedException {
        databasePort = freePort();
        neighbourPort = freePort();
        database = OrdersBackend.startDatabase(databasePort, password);
        neighbour = new Neighbour(neighbourPort, 0, 0);
        neighbour.start();
    }

    /** Starts both. */
    public static LocalBackends start(String password) throws IOException, InterruptedException {
        return new LocalBackends(password);
    }

    /** Host, port and name of the database, as in the URL of a driver. */
    public String databaseAddress() {
        return "127.0.0.1:" + databasePort + "/postgres";
    }

    /** The number of connections that clients have to the database now. */
    public int databaseConnections() throws IOException, InterruptedException {
        return Integer.parseInt(database.execute("SELECT count(*) FROM pg_stat_activity"
                + " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()").strip());
    }

    /** The neighbour's base URL. */
    public String neighbourUrl() {
        return "http://127.0.0.1:" + neighbourPort;
    }

    /** A port on which nobody listens, and which the system gives to nobody else for 60 s, because a connection on it is in TIME-WAIT. */
    public static int freePort() throws IOException {
        try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var client = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
            listener.accept().close();
            client.getInputStream().read();
            return listener.getLocalPort();
        }
    }

    @Override
    public void close() throws IOException {
        neighbour.stop();
        database.close();
    }
}
