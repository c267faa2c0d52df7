package dev.threadcount.probe.stacks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/**
 * How the names of classes begin that are not the application's, from {@code libraries.txt}.
 *
 * @param jdk the JDK's
 * @param servers those whose code calls the application for a request
 * @param others of servers and other libraries
 * @param samples the application's although they begin like a library's
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
            // A cached jar is shared by all probes of this JVM, and the first that ends closes it.
            file.setUseCaches(false);
            try (InputStream bytes = file.getInputStream()) {
                return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
