package dev.threadcount.agent;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Loads the probe by a class loader of its own, and so beside a probe of an earlier version that this JVM may hold, and outside
 * of the application's class path. The JVM keeps this class from the first attach on: it must go on working for every later version.
 */
public final class Agent {
    /** The name of the loader, by which the probe closes it when it ends. */
    private static final String LOADER = "threadcount-probe";
    private static final String PROBE = "dev.threadcount.probe.Probe";
    private static final String JAR = "jar=";

    private Agent() {}

    /**
     * The JVM calls this before {@code main}.
     *
     * @param argument the probe's options
     * @param instrumentation the JVM's hand
     * @throws Exception when the probe cannot start
     */
    public static void premain(String argument, Instrumentation instrumentation) throws Exception {
        start(argument, instrumentation);
    }

    /**
     * The JVM calls this when the agent is loaded into a running process.
     *
     * @param argument the probe's options; {@code jar=PATH} is the probe to load, percent-encoded
     * @param instrumentation the JVM's hand
     * @throws Exception when the probe cannot start
     */
    public static void agentmain(String argument, Instrumentation instrumentation) throws Exception {
        start(argument, instrumentation);
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

    private static File jar(String argument) throws URISyntaxException {
        for (String pair : argument == null ? new String[0] : argument.split(",")) {
            if (pair.startsWith(JAR)) {
                String encoded = pair.substring(JAR.length()).replace("+", "%2B");
                return new File(URLDecoder.decode(encoded, StandardCharsets.UTF_8));
            }
        }
        return Path.of(Agent.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toFile();
    }
}
