package dev.threadcount.probe.crossover;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/** Finds the TCP ports on which this process listens. */
final class ListeningPorts {
    /** The part of the file that is read. The kernel writes listening sockets first, and thousands of closed ones may follow. */
    private static final int BEGINNING_BYTES = 1 << 16;
    private static final String LISTENING = "0A";
    private static final Path PROCESS = Path.of("/proc/self");

    private ListeningPorts() {}

    /** The ports, or none if the system has no {@code /proc}. */
    static Set<Integer> find() {
        Set<Integer> ports = new TreeSet<>();
        try {
            Set<String> sockets = sockets();
            for (String table : new String[] {"net/tcp", "net/tcp6"}) {
                // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
                beginning(table).lines().skip(1).map(line -> line.strip().split(" +"))
                        .filter(field -> field.length > 9 && field[3].equals(LISTENING) && sockets.contains("socket:[" + field[9] + "]"))
                        .forEach(field -> ports.add(Integer.parseInt(field[1].substring(field[1].indexOf(':') + 1), 16)));
            }
        } catch (IOException | RuntimeException anotherSystem) {
            ports.clear();
        }
        return ports;
    }

    private static Set<String> sockets() throws IOException {
        Set<String> sockets = new HashSet<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(PROCESS.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                try {
                    sockets.add(Files.readSymbolicLink(descriptor).toString());
                } catch (IOException closed) {
                    // The descriptor was closed after it was listed.
                }
            }
        }
        return sockets;
    }

    private static String beginning(String table) throws IOException {
        Path file = PROCESS.resolve(table);
        if (!Files.exists(file)) {
            return "";
        }
        try (FileInputStream stream = new FileInputStream(file.toFile())) {
            return new String(stream.readNBytes(BEGINNING_BYTES), StandardCharsets.ISO_8859_1);
        }
    }
}
