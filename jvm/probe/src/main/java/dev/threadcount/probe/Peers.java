package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Finds the address that a socket of this process has connected to. Used by one thread. */
final class Peers {
    private static final long VALID_NS = TimeUnit.SECONDS.toNanos(10);
    /** The part of the file that is read. The kernel writes listening sockets first, and thousands of closed ones may follow. */
    private static final int BEGINNING_BYTES = 1 << 16;
    private static final int MOST_REMEMBERED = 2_000;
    private static final String LISTENING = "0A";
    private static final String SOCKET = "socket:[";

    private final JvmAccess jvm;
    private final Path process;
    /** The peers by the kernel's number of the socket. Sockets of clients have no value. */
    private final Map<String, String> peers = new HashMap<>();
    private Set<Integer> listening = Set.of();
    private long readNs = System.nanoTime() - VALID_NS;

    /** @param process {@code /proc/self} */
    Peers(JvmAccess jvm, Path process) {
        this.jvm = jvm;
        this.process = process;
    }

    /** The address and port that this socket has connected to. Null if it belongs to a client, or is unknown. */
    String of(int descriptor) {
        try {
            String target = Files.readSymbolicLink(process.resolve("fd").resolve(Integer.toString(descriptor))).toString();
            if (!target.startsWith(SOCKET)) {
                return null;
            }
            String number = target.substring(SOCKET.length(), target.length() - 1);
            if (!peers.containsKey(number)) {
                if (peers.size() >= MOST_REMEMBERED) {
                    peers.clear();
                }
                peers.put(number, find(descriptor, number));
            }
            return peers.get(number);
        } catch (IOException | RuntimeException closedOrNotHere) {
            return null;
        }
    }

    private String find(int descriptor, String number) throws IOException {
        // The JDK takes every address for an Internet address.
        String unix = beginning("net/unix");
        if (unix.contains(" " + number + " ") || unix.contains(" " + number + "\n")) {
            return null;
        }
        InetSocketAddress[] ends = jvm.endsOf(descriptor);
        // If our port is one that others connect to, the other side is a client.
        return ends == null || ends[1] == null || ends[1].getPort() == 0 || listening().contains(ends[0].getPort()) ? null : name(ends[1]);
    }

    private Set<Integer> listening() throws IOException {
        if (System.nanoTime() - readNs >= VALID_NS) {
            Set<Integer> found = new HashSet<>();
            for (String table : new String[] {"net/tcp", "net/tcp6"}) {
                // The fields are sl: local_address rem_address st ...
                beginning(table).lines().skip(1).map(line -> line.strip().split(" +"))
                        .filter(fields -> fields.length > 3 && fields[3].equals(LISTENING))
                        .forEach(fields -> found.add(Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16)));
            }
            listening = found;
            readNs = System.nanoTime();
        }
        return listening;
    }

    private String beginning(String file) throws IOException {
        try (FileInputStream stream = new FileInputStream(process.resolve(file).toFile())) {
            return new String(stream.readNBytes(BEGINNING_BYTES), StandardCharsets.ISO_8859_1);
        }
    }

    /** An address as it is written in a URL. */
    static String name(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        String text = ip.getHostAddress();
        return (ip instanceof Inet6Address ? "[" + text + "]" : text) + ":" + address.getPort();
    }
}
