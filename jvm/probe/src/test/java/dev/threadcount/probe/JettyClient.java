package dev.threadcount.probe;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.eclipse.jetty.client.CompletableResponseListener;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** A client of Jetty. Its server answers nothing before the first of its connections is returned. */
final class JettyClient {
    private static final String PASSWORD = "changeit";

    private final int size;
    private final HttpClient client = new HttpClient();
    private final String address;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore received = new Semaphore(0);
    private final CountDownLatch answers = new CountDownLatch(1);
    private final AtomicInteger taken = new AtomicInteger();

    JettyClient(int size, boolean tls) throws Exception {
        this.size = size;
        client.setMaxConnectionsPerDestination(size);
        client.setSslContextFactory(new SslContextFactory.Client(true));
        client.start();
        InetAddress here = InetAddress.getLoopbackAddress();
        ServerSocket server = tls ? serverKey().getServerSocketFactory().createServerSocket(0, 50, here) : new ServerSocket(0, 50, here);
        address = (tls ? "https" : "http") + "://127.0.0.1:" + server.getLocalPort();
        threads.submit(() -> {
            while (true) {
                Socket connection = server.accept();
                threads.submit(() -> answer(connection));
            }
        });
    }

    /** Sends a request that gets a connection. Once all are taken, the request waits for a connection and then gets its answer. */
    AutoCloseable take() throws Exception {
        var answer = new CompletableResponseListener(client.newRequest(address)).send();
        if (taken.incrementAndGet() <= size) {
            received.acquire();
            return answers::countDown;
        }
        answer.get();
        return () -> {};
    }

    private Void answer(Socket connection) throws IOException, InterruptedException {
        try (connection; var lines = new BufferedReader(new InputStreamReader(connection.getInputStream()))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.isEmpty()) {
                    received.release();
                    answers.await();
                    connection.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes());
                }
            }
        }
        return null;
    }

    /** A key that this JVM's keytool makes. */
    private static SSLContext serverKey() throws IOException, InterruptedException, GeneralSecurityException {
        Path folder = Files.createTempDirectory("key");
        Path file = folder.resolve("server.p12");
        var keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias", "server",
                "-keyalg", "EC", "-dname", "CN=server", "-storetype", "PKCS12", "-storepass", PASSWORD, "-keystore", file.toString());
        if (keytool.inheritIO().start().waitFor() != 0) {
            throw new IOException("keytool made no key");
        }
        KeyStore store = KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
        Files.delete(file);
        Files.delete(folder);
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }
}
