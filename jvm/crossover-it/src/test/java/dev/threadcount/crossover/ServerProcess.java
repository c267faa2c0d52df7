package dev.threadcount.crossover;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A server in a separate process, which ends when this is closed. */
final class ServerProcess implements AutoCloseable {
    static final Path TARGET = Path.of("target").toAbsolutePath();

    private final Process process;
    private final BufferedReader replies;

    private ServerProcess(ProcessBuilder command) throws IOException {
        process = command.start();
        replies = process.inputReader();
    }

    /** Starts a subject with the jars of a folder below {@code target/servers}, or with the class path of the test if there is none. */
    static ServerProcess subject(Java java, String jars, String type, String... arguments) throws IOException {
        String path = jars == null ? System.getProperty("java.class.path")
                : TARGET.resolve("test-classes") + ":" + TARGET.resolve("servers").resolve(jars) + "/*";
        List<String> command = command(java);
        command.addAll(List.of("-cp", path, "dev.threadcount.crossover." + type));
        command.addAll(List.of(arguments));
        command.add(1, "-Djava.util.logging.config.file=" + TARGET.resolve("test-classes/quiet.properties"));
        return new ServerProcess(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT));
    }

    /** Starts a program that is ready once it has logged this. */
    static ServerProcess of(Java java, String ready, String... arguments) throws IOException {
        List<String> command = command(java);
        command.addAll(List.of(arguments));
        ServerProcess started = new ServerProcess(new ProcessBuilder(command).redirectErrorStream(true));
        String line = started.replies.readLine();
        while (line != null && !line.contains(ready)) {
            line = started.replies.readLine();
        }
        if (line == null) {
            throw new AssertionError("it ended before it was ready");
        }
        Thread.ofPlatform().daemon().start(() -> started.replies.lines().forEach(later -> { }));
        return started;
    }

    private static List<String> command(Java java) {
        return new ArrayList<>(List.of(java.home().resolve("bin/java").toString(), "-Xmx128m", "-XX:TieredStopAtLevel=1"));
    }

    long pid() {
        return process.pid();
    }

    /** The port, from the first line of a subject. */
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
