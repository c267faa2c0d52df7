package dev.threadcount.probe;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * To whom this process has connected, from the kernel's tables. A stack does not have the socket that its thread reads from;
 * with one peer there is no doubt. Used by one thread.
 */
final class Peers {
    private static final long VALID_NS = TimeUnit.SECONDS.toNanos(2);
    /** More of them cost too much to look through. */
    private static final int MOST_FILES = 3_000;
    private static final long LONGEST_TABLE_BYTES = 1 << 20;
    private static final String ESTABLISHED = "01";
    private static final String LISTENING = "0A";

    private final Path process;
    private long readNs = System.nanoTime() - VALID_NS;
    private String only;

    /** @param process {@code /proc/self} */
    Peers(Path process) {
        this.process = process;
    }

    /** The one address and port that all outgoing connections go to; null where there is none or more than one. */
    String only() {
        if (System.nanoTime() - readNs >= VALID_NS) {
            try {
                Map<String, Integer> peers = read();
                only = peers.size() == 1 ? peers.keySet().iterator().next() : null;
            } catch (IOException | RuntimeException notHere) {
                only = null;
            }
            readNs = System.nanoTime();
        }
        return only;
    }

    /** Connections to each peer; empty where there are too many files. */
    Map<String, Integer> read() throws IOException {
        Set<String> own = ownSockets();
        if (own.isEmpty()) {
            return Map.of();
        }
        Map<String, Integer> peers = new HashMap<>();
        for (String table : new String[] {"net/tcp", "net/tcp6"}) {
            String text = Files.readString(process.resolve(table));
            if (text.length() > LONGEST_TABLE_BYTES) {
                return Map.of();
            }
            addPeers(text, own, peers);
        }
        return peers;
    }

    private static void addPeers(String table, Set<String> own, Map<String, Integer> peers) {
        List<String[]> sockets = table.lines().skip(1).map(line -> line.strip().split("\\s+")).toList();
        Set<String> listening = new HashSet<>();
        sockets.stream().filter(fields -> fields[3].equals(LISTENING)).forEach(fields -> listening.add(port(fields[1])));
        sockets.stream()
                .filter(fields -> fields[3].equals(ESTABLISHED) && own.contains(fields[9]))
                // Ours is the port that others connect to: the other side is a client.
                .filter(fields -> !listening.contains(port(fields[1])))
                .forEach(fields -> peers.merge(address(fields[2]), 1, Integer::sum));
    }

    private Set<String> ownSockets() throws IOException {
        Set<String> inodes = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
            int count = 0;
            for (Path file : files) {
                if (++count > MOST_FILES) {
                    return Set.of();
                }
                addSocket(file, inodes);
            }
        }
        return inodes;
    }

    private static void addSocket(Path file, Set<String> inodes) {
        try {
            String target = Files.readSymbolicLink(file).toString();
            if (target.startsWith("socket:[")) {
                inodes.add(target.substring("socket:[".length(), target.length() - 1));
            }
        } catch (IOException closedMeanwhile) {
            // Then it is nobody's socket.
        }
    }

    private static String port(String address) {
        return address.substring(address.indexOf(':') + 1);
    }

    /** The kernel writes each 32 bits of an address in the order of this machine: the last byte first. */
    static String address(String hex) {
        int colon = hex.indexOf(':');
        int port = Integer.parseInt(hex.substring(colon + 1), 16);
        String ip = hex.substring(0, colon);
        boolean mapped = ip.length() == 32 && ip.startsWith("0000000000000000FFFF0000");
        if (ip.length() == 8 || mapped) {
            String last = ip.substring(ip.length() - 8);
            return byteAt(last, 6) + "." + byteAt(last, 4) + "." + byteAt(last, 2) + "." + byteAt(last, 0) + ":" + port;
        }
        StringBuilder words = new StringBuilder("[");
        for (int word = 0; word < 4; word++) {
            String part = ip.substring(word * 8, word * 8 + 8);
            words.append(word == 0 ? "" : ":").append(part(part, 6, 4)).append(':').append(part(part, 2, 0));
        }
        return words.append("]:").append(port).toString();
    }

    private static int byteAt(String hex, int at) {
        return Integer.parseInt(hex.substring(at, at + 2), 16);
    }

    private static String part(String hex, int high, int low) {
        return Integer.toHexString(byteAt(hex, high) << 8 | byteAt(hex, low));
    }
}
