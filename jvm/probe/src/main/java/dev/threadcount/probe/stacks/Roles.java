package dev.threadcount.probe.stacks;

/** Distinguishes threads with a request from idle workers and other threads. */
final class Roles {
    /** Frames in which a server begins a request. */
    private static final Mark[] REQUEST = {
        new Mark("org.apache.tomcat.util.net.SocketProcessorBase", "run"),
        new Mark("org.apache.coyote.AbstractProcessorLight", "process"),
        new Mark("org.apache.coyote.http2.StreamProcessor"),
        new Mark("org.eclipse.jetty.server.Server", "handle"),
        new Mark("org.eclipse.jetty.server.HttpChannel*", "handle", "run"),
        new Mark("org.eclipse.jetty.server.internal.HttpChannelState$HandlerInvoker", "run"),
        new Mark("org.eclipse.jetty.server.internal.HttpConnection", "onFillable"),
        new Mark("io.undertow.server.Connectors", "executeRootHandler"),
        new Mark("sun.net.httpserver.ServerImpl$Exchange", "run"),
        new Mark("io.helidon.webserver.http.HttpRouting*", "route"),
        new Mark("io.helidon.webserver.http1.Http1Connection", "route"),
        new Mark("org.jboss.resteasy.reactive.common.core.AbstractResteasyReactiveContext", "run"),
        new Mark("io.grpc.stub.ServerCalls*"),
        new Mark("jakarta.servlet.http.HttpServlet", "service"),
        new Mark("javax.servlet.http.HttpServlet", "service"),
        new Mark("com.ibm.ws.webcontainer.*"),
        new Mark("weblogic.servlet.internal.*"),
    };

    /** Frames of clients. Netty's own frames belong to servers and to clients. */
    private static final Mark[] CLIENT = {
        new Mark("io.lettuce.core.*"),
        new Mark("reactor.netty.http.client.*"),
        new Mark("reactor.netty.tcp.TcpClient*"),
        new Mark("io.netty.handler.codec.http.HttpClientCodec*"),
        new Mark("io.netty.resolver.dns.*"),
        new Mark("io.vertx.core.http.impl.Http1xClientConnection*"),
        new Mark("io.vertx.core.http.impl.HttpClient*"),
        new Mark("io.vertx.sqlclient.*"),
        new Mark("io.r2dbc.*"),
        new Mark("io.grpc.netty.NettyClient*"),
        new Mark("io.grpc.internal.ClientCallImpl*"),
        new Mark("org.redisson.*"),
        new Mark("org.asynchttpclient.*"),
        new Mark("com.datastax.*"),
        new Mark("com.mongodb.*"),
        new Mark("com.couchbase.client.*"),
        new Mark("software.amazon.awssdk.*"),
        new Mark("com.azure.*"),
        new Mark("org.apache.pulsar.client.*"),
    };

    /** Frames in which a server has begun a request, or a client has got its response. */
    private static final Mark NETTY =
            new Mark("io.netty.channel.AbstractChannelHandlerContext", "invokeChannelRead", "fireChannelRead");

    /** Frames in which a thread of a pool asks for its next task. */
    private static final Mark[] WORKER = {
        new Mark("java.util.concurrent.ThreadPoolExecutor", "getTask"),
        new Mark("java.util.concurrent.ForkJoinPool", "awaitWork", "awaitSignal"),
        new Mark("org.apache.tomcat.util.threads.ThreadPoolExecutor", "getTask"),
        new Mark("org.eclipse.jetty.util.thread.QueuedThreadPool", "idleJobPoll"),
        new Mark("org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread", "reservedWait"),
        new Mark("org.jboss.threads.EnhancedQueueExecutor$ThreadBody", "getOrAddNode", "run"),
    };

    /** The largest number of frames above the one that asks for a task. */
    private static final int NEAR_THE_TOP = 14;

    private Roles() {}

    static boolean beginsRequest(StackTraceElement frame) {
        return Mark.any(REQUEST, new StackTraceElement[] {frame}, 0, 1);
    }

    /** @param application the index of the first frame of the application; the number of frames if there is none */
    static Role of(StackTraceElement[] frames, int application) {
        if (Mark.any(WORKER, frames, 0, Math.min(NEAR_THE_TOP, application))) {
            return Role.WORKER;
        }
        if (Mark.any(REQUEST, frames, 0, frames.length)) {
            return Role.REQUEST;
        }
        if (Mark.any(new Mark[] {NETTY}, frames, 0, frames.length)) {
            // Frames above the application call a client. Frames below it are a client that calls back.
            boolean hasApplication = application < frames.length;
            if (!Mark.any(CLIENT, frames, hasApplication ? application : 0, frames.length)) {
                return Role.REQUEST;
            }
            return hasApplication ? Role.CLIENT : Role.OTHER;
        }
        return application < frames.length ? Role.APPLICATION : Role.OTHER;
    }
}
