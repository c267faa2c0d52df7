package packed.org.eclipse.jetty;

import java.io.IOException;
import java.net.ServerSocket;

/** A thread's task as in an application that carries Jetty in packages of its own. */
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
