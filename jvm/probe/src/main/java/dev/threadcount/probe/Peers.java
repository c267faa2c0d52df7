package dev.threadcount.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** To whom a socket of this process has connected, from the kernel's tables. Used by one thread. */
final class Peers {
    private static final long VALID_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LONGEST_TABLE_BYTES = 1 << 20;
    private static final String ESTABLISHED = "01";
    private static final String CONNECTING = "02";
    private static final String LISTENING = "0A";
    private static final String SOCKET = "socket:[";

    private final Path process;
    private long readNs = System.nanoTime() - VALID_NS;
    /** By the kernel's number of the socket, of connections that this process has made. */
    private Map<String, String> peers = Map.of();

    /** @param process {@code /proc/self} */
    Peers(Path process) {
        this.process = process;
    }

    /** The address and port that this socket has connected to; null for those of clients, and where it is not known. */
    String of(int descriptor) {
        try {
            String target = Files.readSymbolicLink(process.resolve("fd").resolve(Integer.toString(descriptor))).toString();
            if (!target.startsWith(SOCKET)) {
                return null;
            }
            String inode = target.substring(SOCKET.length(), target.length() - 1);
            if (!peers.containsKey(inode) && System.nanoTime() - readNs >= VALID_NS) {
                peers = read();
                readNs = System.nanoTime();
            }
            return peers.get(inode);
        } catch (IOException | RuntimeException closedOrNotHere) {
            return null;
        }
    }

    private Map<String, String> read() throws IOException {
        Map<String, String> found = new HashMap<>();
        for (String table : new String[] {"net/tcp", "net/tcp6"}) {
            if (!Files.exists(process.resolve(table))) {
                continue;
            }
            String text = Files.readString(process.resolve(table));
            if (text.length() > LONGEST_TABLE_BYTES) {
                return Map.of();
            }
            addPeers(text, found);
        }
        return found;
    }

    private static void addPeers(String table, Map<String, String> found) {
        List<String[]> sockets = table.lines().skip(1).map(line -> line.strip().split("\\s+")).toList();
        Set<String> listening = new HashSet<>();
        sockets.stream().filter(fields -> fields[3].equals(LISTENING)).forEach(fields -> listening.add(port(fields[1])));
        sockets.stream()
                .filter(fields -> fields[3].equals(ESTABLISHED) || fields[3].equals(CONNECTING))
                // Ours is the port that others connect to: the other side is a client.
                .filter(fields -> !listening.contains(port(fields[1])))
                .forEach(fields -> found.put(fields[9], address(fields[2])));
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
