package dev.threadcount.chain;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** A server of the chain in a separate process, on a port that the system chose. */
final class Jar implements AutoCloseable {
    private static final Pattern STARTED = Pattern.compile("started on port (\\d+)");

    private final Process process;
    private final String url;

    private Jar(Process process, String url) {
        this.process = process;
        this.url = url;
    }

    static Jar start(String module, String... arguments) throws IOException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-jar", "../" + module + "/target/" + module + ".jar", "--server.port=0"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var log = new StringBuilder();
        BufferedReader output = process.inputReader();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            log.append(line).append('\n');
            var started = STARTED.matcher(line);
            if (started.find()) {
                Thread.ofPlatform().daemon().start(() -> output.lines().forEach(rest -> {}));
                return new Jar(process, "http://127.0.0.1:" + started.group(1));
            }
        }
        throw new IOException(module + " ended before it was ready:\n" + log);
    }

    String url() {
        return url;
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        try (var client = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create(url + path)).build();
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }
}
