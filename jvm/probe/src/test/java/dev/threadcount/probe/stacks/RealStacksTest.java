package dev.threadcount.probe.stacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with stacks of real threads that wait in the JDK. */
class RealStacksTest {
    private static final String HERE = RealStacksTest.class.getName() + ".";

    @TempDir
    private Path folder;

    /** Checks both kinds of thread. The line must be in this test. */
    private static void assertActivity(State state, String resource, Callable<?> body) {
        assertActivity(state, resource, body, thread -> {});
    }

    /** @param end ends what an interrupt does not end */
    private static void assertActivity(State state, String resource, Callable<?> body, Consumer<BlockedThread> end) {
        for (boolean virtual : new boolean[] {false, true}) {
            try (var thread = virtual ? BlockedThread.virtual(body) : BlockedThread.platform(body)) {
                Activity activity = thread.activity(state);
                end.accept(thread);
                String what = (virtual ? "virtual: " : "platform: ") + activity;
                assertEquals(state, activity.state(), what);
                assertEquals(resource, activity.resource(), what);
                assertTrue(activity.application().startsWith(HERE), what);
                assertTrue(activity.application().matches(".*:\\d+"), what);
                assertNull(activity.library(), what);
                assertEquals(Role.APPLICATION, activity.role(), what);
            }
        }
    }

    @Test
    void sleepAndBusyThreadsAreToldApart() {
        assertActivity(State.SLEEP, null, () -> {
            Thread.sleep(600_000);
            return null;
        });
        assertActivity(State.SLEEP, null, () -> {
            TimeUnit.MINUTES.sleep(10);
            return null;
        });
        assertActivity(State.RUNNING, null, () -> {
            long sum = 0;
            while (!Thread.currentThread().isInterrupted()) {
                sum += System.nanoTime() % 7;
            }
            return sum;
        });
    }

    @Test
    void semaphoreIsNamed() {
        Semaphore none = new Semaphore(0);
        assertActivity(State.SEMAPHORE, "java.util.concurrent.Semaphore", () -> {
            none.acquire();
            return null;
        });
        assertActivity(State.SEMAPHORE, "java.util.concurrent.Semaphore", () -> none.tryAcquire(10, TimeUnit.MINUTES));
    }

    @Test
    void locksAndMonitorsAreNamed() {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        assertActivity(State.LOCK, "java.util.concurrent.locks.ReentrantLock", () -> {
            lock.lockInterruptibly();
            return null;
        });
        ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
        readWrite.readLock().lock();
        assertActivity(State.LOCK, "java.util.concurrent.locks.ReentrantReadWriteLock", () -> {
            readWrite.writeLock().lockInterruptibly();
            return null;
        });
        Object monitor = new Object();
        synchronized (monitor) {
            assertActivity(State.MONITOR, null, () -> {
                synchronized (monitor) {
                    return null;
                }
            });
        }
    }

    @Test
    void queuesOfTheApplicationAreNoIdleWorkers() {
        LinkedBlockingQueue<String> empty = new LinkedBlockingQueue<>();
        assertActivity(State.QUEUE, "java.util.concurrent.LinkedBlockingQueue", () -> empty.take());
        assertActivity(State.QUEUE, "java.util.concurrent.SynchronousQueue",
                () -> new SynchronousQueue<String>().poll(10, TimeUnit.MINUTES));
        assertActivity(State.QUEUE, "java.util.concurrent.SynchronousQueue", () -> new SynchronousQueue<String>(true).take());
        assertActivity(State.QUEUE, "java.util.concurrent.LinkedTransferQueue",
                () -> new LinkedTransferQueue<String>().take());
    }

    @Test
    void resultsOfOthersAreFutures() {
        assertActivity(State.FUTURE, "java.util.concurrent.CompletableFuture",
                () -> new CompletableFuture<String>().get());
        assertActivity(State.FUTURE, "java.util.concurrent.CountDownLatch", () -> {
            new CountDownLatch(1).await();
            return null;
        });
    }

    @Test
    void notificationsAndConditionsAreWaits() {
        assertActivity(State.WAIT, null, () -> {
            Object monitor = new Object();
            synchronized (monitor) {
                monitor.wait();
            }
            return null;
        });
        assertActivity(State.WAIT, "java.util.concurrent.locks.AbstractQueuedSynchronizer", () -> {
            ReentrantLock lock = new ReentrantLock();
            lock.lockInterruptibly();
            lock.newCondition().await();
            return null;
        });
    }

    @Test
    void socketReadsOfBothKindsOfSocketAreReads() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            assertActivity(State.SOCKET, null, () -> {
                try (Socket socket = new Socket(silent.getInetAddress(), silent.getLocalPort())) {
                    return socket.getInputStream().read();
                }
            });
            assertActivity(State.SOCKET, null, () -> {
                try (Socket socket = new Socket(silent.getInetAddress(), silent.getLocalPort())) {
                    socket.setSoTimeout(600_000);
                    return socket.getInputStream().read();
                }
            });
            assertActivity(State.SOCKET, null, () -> {
                try (SocketChannel channel = SocketChannel.open(silent.getLocalSocketAddress())) {
                    return channel.read(ByteBuffer.allocate(10));
                }
            });
        }
    }

    /** The kernel drops connections for which a full accept queue has no room, and the client tries again. */
    @Test
    void connectionThatIsNotMadeYetIsNoRead() throws IOException {
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<SocketChannel> waiting = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                channel.connect(full.getLocalSocketAddress());
                waiting.add(channel);
            }
            assertActivity(State.CONNECT, null, () -> {
                try (Socket socket = new Socket()) {
                    socket.connect(full.getLocalSocketAddress(), 5_000);
                    return socket;
                }
            });
            assertActivity(State.CONNECT, null, () -> SocketChannel.open(full.getLocalSocketAddress()));
            for (SocketChannel channel : waiting) {
                channel.close();
            }
        }
    }

    @Test
    void httpClientOfTheJdkIsNamed() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + silent.getLocalPort());
            assertActivity(State.FUTURE, "java.net.http.HttpClient",
                    () -> client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding()));
            client.shutdownNow();
        }
    }

    /** A pipe to which nobody writes blocks like a slow disk, in the same native methods. */
    @Test
    void filesAreToldFromSockets() throws Exception {
        Path pipe = pipe("data");
        assertActivity(State.FILE, null, () -> {
            try (RandomAccessFile file = new RandomAccessFile(pipe.toFile(), "rw")) {
                return file.read();
            }
        }, thread -> write(pipe, thread));
        assertActivity(State.FILE, null, () -> {
            try (FileChannel channel = FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return channel.read(ByteBuffer.allocate(10));
            }
        }, thread -> write(pipe, thread));
        Path unopened = pipe("unopened");
        assertActivity(State.FILE, null, () -> {
            try (FileInputStream file = new FileInputStream(unopened.toFile())) {
                return file.read();
            }
        }, thread -> write(unopened, thread));
    }

    @Test
    void classLoadingIsNotTakenForTheFileThatItReads() throws Exception {
        Path pipe = pipe("classes.jar");
        URL jar = pipe.toUri().toURL();
        assertActivity(State.CLASS_LOADING, null, () -> {
            try (URLClassLoader loader = new URLClassLoader(new URL[] {jar}, null)) {
                return loader.loadClass("shop.Nothing");
            }
        }, thread -> write(pipe, thread));
    }

    /** A thread that waits for the lock of a class loader computes nothing. */
    @Test
    void classLoaderThatAnotherThreadHasIsAMonitor() throws Exception {
        var loader = new ClassLoader(null) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                throw new ClassNotFoundException(name);
            }
        };
        synchronized (loader) {
            assertActivity(State.MONITOR, null, () -> loader.loadClass("shop.Nothing"));
        }
    }

    /** Lets the thread continue, which reads from the pipe or opens it. Otherwise it would keep its carrier during all later tests. */
    private static void write(Path pipe, BlockedThread thread) {
        try (RandomAccessFile file = new RandomAccessFile(pipe.toFile(), "rw")) {
            // One byte only, because the rest would be there for the next reader.
            file.write(0);
            assertTrue(thread.ends(), "it still reads: " + pipe);
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private Path pipe(String name) throws IOException, InterruptedException {
        Path pipe = folder.resolve(name);
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        return pipe;
    }

    @Test
    void workersWithoutWorkAreIdleWhoeverMadeThem() {
        try (ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(),
                        // Many programs wrap the tasks of their threads.
                        task -> Thread.ofPlatform().daemon().unstarted(() -> task.run()));
                ForkJoinPool forkJoin = new ForkJoinPool(1)) {
            for (var executor : List.of(pool, forkJoin)) {
                CompletableFuture<Thread> worker = CompletableFuture.supplyAsync(Thread::currentThread, executor);
                Activity idle = idle(worker.join());
                assertEquals(Role.WORKER, idle.role(), idle.toString());
                executor.shutdownNow();
            }
        }
    }

    private static Activity idle(Thread thread) {
        while (true) {
            ThreadStack stack = ThreadStack.of(thread);
            Activity activity = Classifier.classify(stack);
            if (activity.role() == Role.WORKER || stack.frames().length == 0) {
                return activity;
            }
            Thread.onSpinWait();
        }
    }

    @Test
    void selectorIsNoReadOfARequest() throws IOException {
        try (Selector selector = Selector.open()) {
            assertActivity(State.SELECT, null, () -> selector.select());
            selector.wakeup();
        }
    }

    @Test
    void virtualThreadWithoutACarrierWaitsForOneWhereverItWasParked() {
        Semaphore none = new Semaphore(0);
        try (var thread = BlockedThread.virtual(() -> {
            none.acquire();
            return null;
        })) {
            thread.activity(State.SEMAPHORE);
            StackTraceElement[] frames = thread.thread().getStackTrace();
            ThreadStack unparked = new ThreadStack(frames, Thread.State.RUNNABLE, true, false, null, List.of());
            assertEquals(State.CARRIER, Classifier.classify(unparked).state());
        }
    }
}
