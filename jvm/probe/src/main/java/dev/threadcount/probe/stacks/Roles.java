package dev.threadcount.probe.stacks;

/** Tells threads that hold a request from idle workers and the rest. */
final class Roles {
    /** A server has begun a request below these frames. */
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
        new Mark("io.netty.channel.AbstractChannelHandlerContext", "invokeChannelRead", "fireChannelRead"),
        new Mark("org.jboss.resteasy.reactive.common.core.AbstractResteasyReactiveContext", "run"),
        new Mark("io.grpc.stub.ServerCalls*"),
        new Mark("jakarta.servlet.http.HttpServlet", "service"),
        new Mark("javax.servlet.http.HttpServlet", "service"),
        new Mark("com.ibm.ws.webcontainer.*"),
        new Mark("weblogic.servlet.internal.*"),
    };

    /** A thread of a pool asks for its next task in these. */
    private static final Mark[] WORKER = {
        new Mark("java.util.concurrent.ThreadPoolExecutor", "getTask"),
        new Mark("java.util.concurrent.ForkJoinPool", "awaitWork", "awaitSignal"),
        new Mark("org.apache.tomcat.util.threads.ThreadPoolExecutor", "getTask"),
        new Mark("org.eclipse.jetty.util.thread.QueuedThreadPool", "idleJobPoll"),
        new Mark("org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread", "reservedWait"),
        new Mark("org.jboss.threads.EnhancedQueueExecutor$ThreadBody", "getOrAddNode", "run"),
    };

    /** What a worker that looks for work has above the frame that does. */
    private static final int NEAR_THE_TOP = 14;

    private Roles() {}

    /** @param application the place of the first frame of the application; the number of frames for none */
    static Role of(StackTraceElement[] frames, int application) {
        if (Mark.any(WORKER, frames, 0, Math.min(NEAR_THE_TOP, application))) {
            return Role.WORKER;
        }
        if (Mark.any(REQUEST, frames, 0, frames.length)) {
            return Role.REQUEST;
        }
        return application < frames.length ? Role.APPLICATION : Role.OTHER;
    }
}
