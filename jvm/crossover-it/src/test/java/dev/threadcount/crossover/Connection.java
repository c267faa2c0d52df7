package dev.threadcount.crossover;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A kept connection. Anything but a whole response with status 200 is an exception. */
final class Connection implements AutoCloseable {
    private static final int TIMEOUT_MS = 30_000;

    private final Socket socket;
    private final InputStream input;

    Connection(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(TIMEOUT_MS);
        socket.setTcpNoDelay(true);
        input = new BufferedInputStream(socket.getInputStream());
    }

    Response get(String path) throws IOException {
        long sent = System.nanoTime();
        send(path);
        String body = receive();
        return new Response(sent, System.nanoTime(), body);
    }

    void send(String path) throws IOException {
        socket.getOutputStream().write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    String receive() throws IOException {
        String status = line();
        int length = -1;
        boolean chunked = false;
        for (String header = line(); !header.isEmpty(); header = line()) {
            String lower = header.toLowerCase(java.util.Locale.ROOT);
            length = lower.startsWith("content-length:") ? Integer.parseInt(lower.substring(15).strip()) : length;
            chunked |= lower.equals("transfer-encoding: chunked");
        }
        String body = chunked ? chunks() : new String(input.readNBytes(length), StandardCharsets.UTF_8);
        if (!status.contains(" 200") || !chunked && body.length() != length) {
            throw new IOException(status + ": " + body);
        }
        return body;
    }

    private String chunks() throws IOException {
        StringBuilder body = new StringBuilder();
        for (int size = Integer.parseInt(line(), 16); size > 0; size = Integer.parseInt(line(), 16)) {
            body.append(new String(input.readNBytes(size), StandardCharsets.UTF_8));
            line();
        }
        line();
        return body.toString();
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int read = input.read(); read != '\n'; read = input.read()) {
            if (read < 0) {
                throw new IOException("the connection was closed after '" + line + "'");
            }
            if (read != '\r') {
                line.append((char) read);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
