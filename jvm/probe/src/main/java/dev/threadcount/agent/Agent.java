package dev.threadcount.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLDecoder;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Loads the probe by a class loader of its own, and so beside a probe of an earlier version that this JVM may hold, and outside
 * of the application's class path. The JVM keeps this class from the first attach on: it must go on working for every later version.
 */
public final class Agent {
    /** The name of the loader, by which the probe closes it when it ends. */
    private static final String LOADER = "threadcount-probe";
    private static final String PROBE = "dev.threadcount.probe.Probe";
    private static final String JAR = "jar=";
    private static final String FILE = "out=file:";
    private static final String SOCKET = "out=unix:";

    private Agent() {}

    /**
     * The JVM calls this before {@code main}.
     *
     * @param argument the probe's options
     * @param instrumentation the JVM's hand
     * @throws Exception when the probe cannot start
     */
    public static void premain(String argument, Instrumentation instrumentation) throws Exception {
        try {
            start(argument, instrumentation);
        } catch (Exception | Error failed) {
            tell(argument, failed);
            throw failed;
        }
    }

    /**
     * The JVM calls this when the agent is loaded into a running process.
     *
     * @param argument the probe's options; {@code jar=PATH} is the probe to load, percent-encoded
     * @param instrumentation the JVM's hand
     * @throws Exception when the probe cannot start, and whoever attached cannot be told
     */
    public static void agentmain(String argument, Instrumentation instrumentation) throws Exception {
        try {
            start(argument, instrumentation);
        } catch (Exception | Error failed) {
            // The JVM would print the exception into the log of the application.
            if (!tell(argument, failed)) {
                throw failed;
            }
        }
    }

    private static void start(String argument, Instrumentation instrumentation) throws Exception {
        URLClassLoader loader = new URLClassLoader(LOADER, new URL[] {jar(argument).toURI().toURL()},
                ClassLoader.getPlatformClassLoader());
        try {
            Class.forName(PROBE, true, loader).getMethod("start", String.class, Instrumentation.class)
                    .invoke(null, argument, instrumentation);
        } catch (InvocationTargetException failed) {
            loader.close();
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        } catch (ReflectiveOperationException | RuntimeException | Error failed) {
            loader.close();
            throw failed;
        }
    }

    /** Writes the reason where the lines of the probe would go, and returns whether that was possible. */
    private static boolean tell(String argument, Throwable failed) {
        Throwable root = failed;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        try {
            String why = root.toString().replaceAll("[\"\\\\\\p{Cntrl}]", " ");
            byte[] line = ("{\"type\":\"refused\",\"t_ns\":" + System.nanoTime() + ",\"why\":\"" + why + "\"}\n")
                    .getBytes(StandardCharsets.UTF_8);
            String file = value(argument, FILE);
            String socket = value(argument, SOCKET);
            if (file != null) {
                Files.write(Path.of(file), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } else if (socket != null) {
                try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
                    channel.write(ByteBuffer.wrap(line));
                }
            }
            return file != null || socket != null;
        } catch (IOException | RuntimeException | Error nothingLeft) {
            return false;
        }
    }

    private static File jar(String argument) throws URISyntaxException {
        String path = value(argument, JAR);
        return path != null ? new File(path)
                : Path.of(Agent.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toFile();
    }

    /** The path after a key; null where there is none. */
    private static String value(String argument, String key) {
        for (String pair : argument == null ? new String[0] : argument.split(",")) {
            if (pair.startsWith(key)) {
                return URLDecoder.decode(pair.substring(key.length()).replace("+", "%2B"), StandardCharsets.UTF_8);
            }
        }
        return null;
    }
}
