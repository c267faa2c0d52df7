package dev.threadcount.crossover;

import com.sun.tools.attach.VirtualMachine;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The other end of a crossover session. It loads the agent into a process, and sends a line for each reply. */
final class Tool implements AutoCloseable {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final Path PROBE = Path.of("../probe/target/probe.jar").toAbsolutePath().normalize();

    private final SocketChannel channel;
    private final BufferedReader replies;
    private final JsonNode hello;
    private volatile JsonNode end;
    private volatile boolean closed;

    private Tool(SocketChannel channel) throws IOException {
        this.channel = channel;
        replies = new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8));
        hello = read();
    }

    /** Attaches, and sends a sign of life every 200 ms until it is closed. */
    static Tool attach(ServerProcess server) throws Exception {
        Tool tool = attachSilently(server);
        Thread.ofPlatform().daemon().start(tool::beat);
        return tool;
    }

    private void beat() {
        try {
            while (!closed && ask("status") != null) {
                TimeUnit.MILLISECONDS.sleep(200);
            }
        } catch (IOException | InterruptedException over) {
            // The session has ended.
        }
    }

    /** Attaches without signs of life. */
    static Tool attachSilently(ServerProcess server) throws Exception {
        Path folder = Files.createTempDirectory("crossover");
        Path socket = folder.resolve("s");
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(UnixDomainSocketAddress.of(socket));
            VirtualMachine jvm = VirtualMachine.attach(Long.toString(server.pid()));
            try {
                jvm.loadAgent(PROBE.toString(), "jar=" + PROBE + ",level=crossover,out=unix:" + socket);
            } finally {
                jvm.detach();
            }
            return new Tool(listener.accept());
        } finally {
            Files.deleteIfExists(socket);
            Files.delete(folder);
        }
    }

    JsonNode hello() {
        return hello;
    }

    /** The last line, after the session has ended. */
    JsonNode end() {
        return end;
    }

    synchronized JsonNode ask(String command) throws IOException {
        try {
            channel.write(ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.UTF_8)));
        } catch (IOException gone) {
            // The session's last line may have arrived.
        }
        return read();
    }

    /** Sends a switch or a restore, which must succeed. */
    JsonNode command(String command) throws IOException {
        JsonNode reply = ask(command);
        String type = reply == null ? "" : reply.get("type").asString();
        if (!type.equals("switched") && !type.equals("restored")) {
            throw new AssertionError(command + ": " + reply + ", after " + end);
        }
        return reply;
    }

    /** The next line, or null at the end. */
    JsonNode read() throws IOException {
        String line = replies.readLine();
        JsonNode reply = line == null ? null : JSON.readTree(line);
        if (reply != null && reply.get("type").asString().equals("ended")) {
            end = reply;
        }
        return reply;
    }

    @Override
    public void close() throws IOException {
        closed = true;
        channel.close();
    }
}
