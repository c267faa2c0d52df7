package dev.threadcount.avatar.vertx;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.ThreadLocalRandom;

/** The avatar redirect on one event loop. {@code /thread-info} returns the thread that handles the request. */
public final class AvatarVerticle extends VerticleBase {
    private static final int IMAGES = 21;
    private static final int BACKLOG = 1024;

    private final int port;
    private HttpServer server;

    AvatarVerticle(int port) {
        this.port = port;
    }

    /** Starts the server; {@code --port=N} (default 8080, 0 for a free port). */
    public static void main(String[] args) {
        String word = args.length == 0 ? "--port=8080" : args[0];
        if (args.length > 1 || !word.matches("--port=\\d{1,5}")) {
            System.err.println("write --port=N, 0 to 65535");
            System.exit(2);
        }
        var vertx = Vertx.vertx();
        vertx.deployVerticle(new AvatarVerticle(Integer.parseInt(word.substring("--port=".length()))))
                .onFailure(error -> {
                    System.err.println(error);
                    System.exit(1);
                });
    }

    @Override
    public Future<?> start() {
        return vertx.createHttpServer(new HttpServerOptions().setAcceptBacklog(BACKLOG))
                .requestHandler(AvatarVerticle::answer)
                .listen(port, "127.0.0.1")
                .onSuccess(listening -> server = listening);
    }

    int actualPort() {
        return server.actualPort();
    }

    private static void answer(HttpServerRequest request) {
        if (request.path().equals("/thread-info")) {
            threadInfo(request);
            return;
        }
        int image = ThreadLocalRandom.current().nextInt(IMAGES) + 1;
        request.response()
                .setStatusCode(302)
                .putHeader("Location", "https://avatar.spacefox.fr/Renard-" + image + ".png")
                .end();
    }

    private static void threadInfo(HttpServerRequest request) {
        var thread = Thread.currentThread();
        var info = new JsonObject()
                .put("thread", thread.getName())
                .put("virtual", thread.isVirtual())
                .put("java", Runtime.version().toString());
        request.response().putHeader("Content-Type", "application/json").end(info.toBuffer());
    }
}
