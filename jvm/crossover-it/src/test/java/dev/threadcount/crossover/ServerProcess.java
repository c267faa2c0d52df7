package dev.threadcount.crossover;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A server in a process of its own; ended when it is closed. */
final class ServerProcess implements AutoCloseable {
    static final Path TARGET = Path.of("target").toAbsolutePath();

    private final Process process;
    private final BufferedReader replies;

    private ServerProcess(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        replies = process.inputReader();
    }

    /** A subject of ours, with the jars of a folder below {@code target/servers}; without one, with the class path of the test. */
    static ServerProcess subject(Java java, String jars, String type, String... arguments) throws IOException {
        String path = jars == null ? System.getProperty("java.class.path")
                : TARGET.resolve("test-classes") + ":" + TARGET.resolve("servers").resolve(jars) + "/*";
        List<String> command = command(java);
        command.addAll(List.of("-cp", path, "dev.threadcount.crossover." + type));
        command.addAll(List.of(arguments));
        return new ServerProcess(command);
    }

    /** Any program. */
    static ServerProcess of(Java java, String... arguments) throws IOException {
        List<String> command = command(java);
        command.addAll(List.of(arguments));
        ServerProcess started = new ServerProcess(command);
        // Nobody reads its lines.
        Thread.ofVirtual().start(() -> started.replies.lines().forEach(line -> { }));
        return started;
    }

    private static List<String> command(Java java) {
        return new ArrayList<>(List.of(java.home().resolve("bin/java").toString(), "-Xmx128m", "-XX:TieredStopAtLevel=1",
                "-Djava.util.logging.config.file=" + TARGET.resolve("test-classes/quiet.properties")));
    }

    long pid() {
        return process.pid();
    }

    /** The first line of a subject. */
    int port() throws IOException {
        String line = replies.readLine();
        if (line == null || !line.startsWith("port ")) {
            throw new AssertionError("the server did not start: " + line);
        }
        return Integer.parseInt(line.substring(5));
    }

    String ask(String command) throws IOException {
        process.outputWriter().write(command + "\n");
        process.outputWriter().flush();
        return replies.readLine();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
