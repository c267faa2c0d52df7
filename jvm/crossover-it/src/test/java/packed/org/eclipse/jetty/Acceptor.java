package packed.org.eclipse.jetty;

import java.io.IOException;
import java.net.ServerSocket;

/** The task of a thread in an application that contains Jetty in its own packages. */
public record Acceptor(ServerSocket socket) implements Runnable {
    @Override
    public void run() {
        try {
            while (true) {
                socket.accept().close();
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }
}
