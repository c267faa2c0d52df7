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
 * Loads the probe with a separate class loader. So the probe is not on the application's class path, and does not clash with a probe of an
 * earlier version in this JVM. The JVM keeps this class from the first attach on, so it must work with every later version.
 */
public final class Agent {
    /** The name of the class loader. The probe closes it by this name when it ends. */
    private static final String LOADER = "threadcount-probe";
    private static final String PROBE = "dev.threadcount.probe.Probe";
    private static final String JAR = "jar=";
    private static final String FILE = "out=file:";
    private static final String SOCKET = "out=unix:";

    private Agent() {}

    /**
     * Starts the probe before {@code main} of the application. Called by the JVM.
     *
     * @param argument the probe's options
     * @param instrumentation the JVM's means to change classes
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
     * Starts the probe in a running process. Called by the JVM when it loads the agent.
     *
     * @param argument the probe's options; {@code jar=PATH} is the probe to load, percent-encoded
     * @param instrumentation the JVM's means to change classes
     * @throws Exception when the probe cannot start, and whoever attached it cannot be told
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

    /** Writes the reason to the place for the probe's lines. Returns whether that was possible. */
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

    /** The path after a key, or null if the key is absent. */
    private static String value(String argument, String key) {
        for (String pair : argument == null ? new String[0] : argument.split(",")) {
            if (pair.startsWith(key)) {
                return URLDecoder.decode(pair.substring(key.length()).replace("+", "%2B"), StandardCharsets.UTF_8);
            }
        }
        return null;
    }
}
