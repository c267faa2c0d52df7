package dev.threadcount.orders.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the database as an experiment starts it: in a separate process, which is ended from outside. */
class DatabaseEndIT {
    private static final String PASSWORD = "made for this test";
    private static final long START_SECONDS = 600;
    private static final long END_SECONDS = 15;

    private Path folder;

    /** Creates a folder for PostgreSQL's folders, which it can use even if it runs as another user. */
    @BeforeEach
    void createFolder() throws IOException {
        folder = Files.createTempDirectory("orders-backend-it");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    @AfterEach
    void removeFolder() throws IOException {
        Files.delete(folder);
    }

    /**
     * Threadcount signals the whole group, where SIGTERM alone would make PostgreSQL wait for its clients. Others kill a single process.
     */
    @ParameterizedTest
    @CsvSource({"TERM, true", "KILL, true", "KILL, false"})
    void nothingIsLeftOfTheDatabaseWhenItsProcessIsEnded(String signal, boolean isForItsGroup) throws Exception {
        int port = LocalBackends.freePort();
        Process backend = start(port);
        try {
            Process client = connect(backend, port);
            List<ProcessHandle> others = backend.descendants().toList();
            assertTrue(others.stream().anyMatch(DatabaseEndIT::runs), "no process of PostgreSQL");
            assertEquals(1, foldersOfDatabases());
            String target = (isForItsGroup ? "-" : "") + backend.pid();
            assertEquals(0, new ProcessBuilder("kill", "-" + signal, "--", target).inheritIO().start().waitFor());
            assertTrue(backend.waitFor(END_SECONDS, TimeUnit.SECONDS), "the backend still runs");
            assertTrue(client.waitFor(END_SECONDS, TimeUnit.SECONDS), "its client is still connected");
            awaitEnd(others);
            assertEquals(0, foldersOfDatabases());
            assertFalse(isOpen(port));
            new ServerSocket(port).close();
        } finally {
            backend.destroyForcibly();
        }
    }

    /** Starts the database in a separate process group, as Threadcount does. */
    private Process start(int port) throws IOException {
        String java = ProcessHandle.current().info().command().orElse("java");
        var building = new ProcessBuilder(
                "setsid", java, "-Xmx32m", "-XX:+UseSerialGC", "-jar", "target/orders-backend.jar", "database", "--port=" + port);
        building.environment().put("SHOP_PASSWORD", PASSWORD);
        building.environment().put("TMPDIR", folder.toString());
        return building.inheritIO().start();
    }

    /** Starts a client in the middle of a statement. It tries again until the database has started. */
    private static Process connect(Process backend, int port) throws Exception {
        var building = new ProcessBuilder(
                "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--host", "127.0.0.1", "--port", Integer.toString(port),
                "--username", PostgresCluster.USER, "--dbname", "postgres",
                "--command", "SELECT 'connected'", "--command", "SELECT pg_sleep(600)");
        building.environment().put("PGPASSWORD", PASSWORD);
        building.redirectError(ProcessBuilder.Redirect.DISCARD);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (backend.isAlive() && System.nanoTime() < end) {
            Process client = building.start();
            if ("connected".equals(client.inputReader().readLine())) {
                return client;
            }
            Thread.sleep(50);
        }
        throw new IOException("the database did not start; its log is above");
    }

    /** Waits for the end of PostgreSQL's processes, and of the one that removes the folder. */
    private static void awaitEnd(List<ProcessHandle> processes) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
        while (processes.stream().anyMatch(DatabaseEndIT::runs) && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        assertEquals(List.of(), processes.stream().filter(DatabaseEndIT::runs).toList());
    }

    /** Whether a process runs. If it has ended and was not waited for, as in a container without an init, its command line is empty. */
    private static boolean runs(ProcessHandle process) {
        try {
            return process.isAlive() && Files.readAllBytes(Path.of("/proc/" + process.pid() + "/cmdline")).length > 0;
        } catch (IOException ended) {
            return false;
        }
    }

    private long foldersOfDatabases() throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.count();
        }
    }

    private static boolean isOpen(int port) throws IOException {
        try (var client = new Socket("127.0.0.1", port)) {
            return client.isConnected();
        } catch (ConnectException refused) {
            return false;
        }
    }
}
