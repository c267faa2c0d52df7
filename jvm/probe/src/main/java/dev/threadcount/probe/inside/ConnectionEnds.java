package dev.threadcount.probe.inside;

import java.io.FileDescriptor;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;

/** The addresses of a connection by its descriptor, from getsockname(2) and getpeername(2) through the JDK. */
final class ConnectionEnds {
    private final Method descriptor;
    private final Method local;
    private final Method remote;

    private ConnectionEnds() throws ReflectiveOperationException {
        descriptor = Class.forName("sun.nio.ch.IOUtil", false, null).getDeclaredMethod("newFD", int.class);
        Class<?> net = Class.forName("sun.nio.ch.Net", false, null);
        local = net.getDeclaredMethod("localAddress", FileDescriptor.class);
        remote = net.getDeclaredMethod("remoteAddress", FileDescriptor.class);
        descriptor.setAccessible(true);
        local.setAccessible(true);
        remote.setAccessible(true);
    }

    /** Returns null if this JVM does not have these methods. */
    static ConnectionEnds find() {
        try {
            return new ConnectionEnds();
        } catch (ReflectiveOperationException | RuntimeException another) {
            return null;
        }
    }

    /** The addresses, or null if the descriptor is not, or no longer, a connection. */
    InetSocketAddress[] of(int number) {
        try {
            // This object does not close the descriptor.
            Object open = descriptor.invoke(null, number);
            return new InetSocketAddress[] {(InetSocketAddress) local.invoke(null, open), (InetSocketAddress) remote.invoke(null, open)};
        } catch (ReflectiveOperationException | RuntimeException notConnected) {
            return null;
        }
    }
}
