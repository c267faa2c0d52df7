package dev.threadcount.probe.stacks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/**
 * The prefixes of names of classes that do not belong to the application, from {@code libraries.txt}.
 *
 * @param jdk those of the JDK
 * @param servers those of servers, whose code calls the application for a request
 * @param others those of servers and other libraries
 * @param samples those of the application although they begin like a library's
 */
record Libraries(String[] jdk, String[] servers, String[] others, String[] samples) {
    private static final String FILE = "libraries.txt";

    static Libraries read() {
        String text = text();
        String[] others = Stream.of("servers", "libraries").flatMap(name -> section(text, name)).toArray(String[]::new);
        return new Libraries(section(text, "jdk").toArray(String[]::new), section(text, "servers").toArray(String[]::new), others,
                section(text, "samples").toArray(String[]::new));
    }

    private static Stream<String> section(String text, String name) {
        String heading = "[" + name + "]\n";
        int start = text.indexOf(heading) + heading.length();
        int end = text.indexOf('[', start);
        return text.substring(start, end < 0 ? text.length() : end).lines()
                .filter(line -> !line.isEmpty() && !line.startsWith("#"));
    }

    private static String text() {
        try {
            URLConnection file = Libraries.class.getResource(FILE).openConnection();
            // All probes of this JVM share a cached jar, and the first one that ends closes it.
            file.setUseCaches(false);
            try (InputStream bytes = file.getInputStream()) {
                return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
