package dev.threadcount.probe.stacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The activity of a thread in native code, which for the JVM runs. */
class NativeWaitsTest {
    /** The line number -2 means a native method. */
    private static ThreadStack in(boolean virtual, String type, String method, String... callers) {
        StackTraceElement[] frames = new StackTraceElement[callers.length + 1];
        frames[0] = new StackTraceElement(type, method, "F.java", -2);
        for (int i = 0; i < callers.length; i++) {
            int dot = callers[i].lastIndexOf('.');
            frames[i + 1] = new StackTraceElement(callers[i].substring(0, dot), callers[i].substring(dot + 1), "F.java", 7);
        }
        return new ThreadStack(frames, Thread.State.RUNNABLE, virtual, true, null, List.of());
    }

    @Test
    void nameLookupIsAWaitOnBothKindsOfThread() {
        for (boolean virtual : new boolean[] {false, true}) {
            ThreadStack lookup = in(virtual, "java.net.Inet6AddressImpl", "lookupAllHostAddr",
                    "java.net.InetAddress$PlatformResolver.lookupByName", "shop.Orders.find");
            assertEquals(State.NAME_LOOKUP, Classifier.classify(lookup).state());
        }
    }

    @Test
    void writeToASocketIsAWaitOnlyWhereTheKernelSaysSo() {
        ThreadStack write = in(false, "sun.nio.ch.UnixDispatcher", "write0", "sun.nio.ch.NioSocketImpl.tryWrite",
                "sun.nio.ch.NioSocketImpl.implWrite", "shop.Orders.send");
        assertTrue(Classifier.mayWaitInNative(write));
        assertEquals(State.RUNNING, Classifier.classify(write, false).state());
        assertEquals(State.SOCKET_WRITE, Classifier.classify(write, true).state());
    }

    @Test
    void nativeCodeOfALibraryIsAWaitOnlyWhereTheKernelSaysSo() {
        ThreadStack library = in(false, "org.rocksdb.RocksDB", "get", "shop.Orders.find");
        assertEquals(State.RUNNING, Classifier.classify(library, false).state());
        Activity waits = Classifier.classify(library, true);
        assertEquals(State.NATIVE, waits.state());
        assertEquals("org.rocksdb.RocksDB", waits.resource());
    }

    @Test
    void eventLoopThatWaitsInItsSelectorOrReadsWhatIsThereIsNoSuchWait() {
        ThreadStack selector = in(false, "sun.nio.ch.EPoll", "wait", "sun.nio.ch.EPollSelectorImpl.doSelect",
                "sun.nio.ch.SelectorImpl.lockAndDoSelect", "io.netty.channel.nio.NioEventLoop.select");
        assertEquals(State.SELECT, Classifier.classify(selector, true).state());
        ThreadStack read = in(false, "sun.nio.ch.SocketDispatcher", "read0", "sun.nio.ch.SocketChannelImpl.read",
                "io.netty.buffer.AbstractByteBuf.setBytes");
        assertEquals(State.RUNNING, Classifier.classify(read, false).state());
        assertFalse(Classifier.mayWaitInNative(in(true, "org.rocksdb.RocksDB", "get")));
    }
}
