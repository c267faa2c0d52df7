package dev.threadcount.orders.backend;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A PostgreSQL in a temporary folder, on a port of the loopback interface. It accepts TCP connections only when it has its data: they are
 * loaded over a Unix socket, as Docker's image of PostgreSQL does.
 *
 * <p>PostgreSQL refuses to run as root. If root starts it, it runs as the user {@code postgres}, which Debian's package creates; the
 * system's own database is not touched.
 */
public final class PostgresCluster implements AutoCloseable {
    /** The superuser of the cluster. */
    static final String USER = "shop";

    private static final String LOOPBACK = "127.0.0.1";
    private static final int MAX_CONNECTIONS = 300;
    private static final String SYSTEM_USER = "postgres";
    private static final long START_SECONDS = 60;
    /** The time for a stop, which is shorter than Threadcount's before it kills. */
    private static final long STOP_SECONDS = 4;
    private static final Path DEBIAN = Path.of("/usr/lib/postgresql");

    /** Waits for the end of our process, however it ends, then ends the rest of the server and removes the folder. */
    private static final String SWEEP = """
            cat >/dev/null
            server=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null)
            [ -z "$server" ] || kill -QUIT "$server"
            for try in 1 2 3 4 5 6 7 8 9 10; do
              rm -rf "$0" && exit
              sleep 0.1
            done
            """;

    private final Path programs;
    private final Path folder;
    private final Process sweeper;
    private final int port;
    private final String password;
    private Process server;

    private PostgresCluster(Path programs, Path folder, int port, String password) throws IOException {
        this.programs = programs;
        this.folder = folder;
        // It runs in a separate session, so that a signal to our process group does not reach it.
        this.sweeper = new ProcessBuilder(asOwner("setsid", "sh", "-c", SWEEP, folder.toString()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        this.port = port;
        this.password = password;
    }

    /** Creates a cluster, loads its data and opens its port. If that fails, nothing of it is left. */
    static PostgresCluster start(int port, String password, String data) throws IOException, InterruptedException {
        Path programs = findPrograms();
        Path folder = Path.of(run(null, asOwner("mktemp", "-d", "--tmpdir", "orders-database-XXXXXX"), null).strip());
        var cluster = new PostgresCluster(programs, folder, port, password);
        try {
            cluster.create();
            cluster.startServer(folder.toString(), "listen_addresses=", "unix_socket_directories=" + folder);
            cluster.execute(data, folder.toString());
            cluster.stopServer();
            cluster.startServer(LOOPBACK, "listen_addresses=" + LOOPBACK, "unix_socket_directories=");
            return cluster;
        } catch (IOException | InterruptedException failed) {
            cluster.close();
            throw failed;
        }
    }

    /** Returns when the server has ended. */
    void waitForItsEnd() throws InterruptedException {
        server.waitFor();
    }

    Path folder() {
        return folder;
    }

    /** Runs a script as one transaction. Returns the output of psql: rows without headings. */
    String execute(String sql) throws IOException, InterruptedException {
        return execute(sql, LOOPBACK);
    }

    private String execute(String sql, String host) throws IOException, InterruptedException {
        var psql = List.of(
                programs.resolve("psql").toString(), "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
                "--single-transaction", "--set", "ON_ERROR_STOP=1", "--host", host, "--port",
                Integer.toString(port), "--username", USER, "--dbname", "postgres");
        return run(sql, psql);
    }

    private void create() throws IOException, InterruptedException {
        // The password is in a file that only its user can read, because it must not be in a command line. It is removed at once.
        String file = folder.resolve("password").toString();
        run(password, asOwner("sh", "-c", "umask 077; cat > \"$0\"", file));
        run(null, asOwner(
                program("initdb"), "--pgdata", data(), "--username", USER, "--pwfile", file,
                "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8"));
        run(null, asOwner("rm", file));
    }

    /** Starts the server as a child of this process, so that its CPU is counted, it ends with us, and its log is ours. */
    private void startServer(String host, String listens, String sockets) throws IOException, InterruptedException {
        String number = Integer.toString(port);
        server = new ProcessBuilder(asOwner(program("postgres"), "-D", data(), "-p", number,
                "-c", listens, "-c", sockets, "-c", "max_connections=" + MAX_CONNECTIONS))
                .inheritIO()
                .start();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        var question = new ProcessBuilder(program("pg_isready"), "--quiet", "--host", host, "--port", number);
        while (question.start().waitFor() != 0) {
            if (!server.isAlive() || System.nanoTime() > end) {
                throw new IOException("PostgreSQL did not start; its log is above");
            }
            Thread.sleep(20);
        }
    }

    /** Stops the server, rolls open transactions back, and removes the folder. */
    @Override
    public void close() throws IOException {
        try {
            if (server != null && server.isAlive()) {
                stopServer();
            }
            sweeper.getOutputStream().close();
            sweeper.waitFor();
        } catch (InterruptedException faster) {
            Thread.currentThread().interrupt();
        }
    }

    private void stopServer() throws IOException, InterruptedException {
        // SIGINT is the fast shutdown. SIGTERM, which may have come already, waits for all clients.
        new ProcessBuilder(asOwner("kill", "-INT", Long.toString(server.pid()))).start().waitFor();
        if (!server.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            server.destroyForcibly().waitFor();
        }
    }

    private String program(String name) {
        return programs.resolve(name).toString();
    }

    private String data() {
        return folder.resolve("data").toString();
    }

    /** The command, run as a user that PostgreSQL accepts. */
    private static List<String> asOwner(String... command) {
        var words = new ArrayList<String>();
        if (System.getProperty("user.name").equals("root")) {
            // Unlike runuser, setpriv leaves no process between us and the server.
            words.addAll(List.of("setpriv", "--reuid", SYSTEM_USER, "--regid", SYSTEM_USER, "--init-groups", "--"));
        }
        words.addAll(List.of(command));
        return words;
    }

    private String run(String input, List<String> command) throws IOException, InterruptedException {
        return run(input, command, password);
    }

    private static String run(String input, List<String> command, String password)
            throws IOException, InterruptedException {
        var building = new ProcessBuilder(command).directory(Path.of("/").toFile());
        if (password != null) {
            building.environment().put("PGPASSWORD", password);
        }
        Path output = Files.createTempFile("orders-backend", ".log");
        try {
            // The output goes to a file, because a pipe could fill up while the input is written.
            Process process = building.redirectErrorStream(true).redirectOutput(output.toFile()).start();
            try (var toProcess = process.outputWriter(StandardCharsets.UTF_8)) {
                toProcess.write(input == null ? "" : input);
            }
            if (!process.waitFor(120, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException(command + " failed: " + Files.readString(output));
            }
            return Files.readString(output);
        } finally {
            Files.delete(output);
        }
    }

    /** Finds the newest version that Debian's packages have installed. */
    private static Path findPrograms() throws IOException {
        if (Files.isDirectory(DEBIAN)) {
            try (Stream<Path> versions = Files.list(DEBIAN)) {
                Optional<Path> newest = versions.map(version -> version.resolve("bin"))
                        .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
                        .max(Comparator.comparing(bin -> Integer.valueOf(bin.getParent().getFileName().toString())));
                if (newest.isPresent()) {
                    return newest.get();
                }
            }
        }
        throw new IOException("PostgreSQL is not installed; on Debian: apt-get install postgresql");
    }

    /** A resource of this jar as text. */
    static String resource(String name) throws IOException {
        try (InputStream stream = PostgresCluster.class.getResourceAsStream(name)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
