package dev.threadcount.probe.stacks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests roles by frames of servers that are too large to run here. The lab's tests run Tomcat. */
class RolesTest {
    private static Activity activity(String... frames) {
        StackTraceElement[] stack = Stream.of(frames).map(frame -> {
            int dot = frame.lastIndexOf('.');
            return new StackTraceElement(frame.substring(0, dot), frame.substring(dot + 1), "F.java", 7);
        }).toArray(StackTraceElement[]::new);
        return Classifier.classify(new ThreadStack(stack, Thread.State.WAITING, false, true, null, List.of()));
    }

    private static final String[] PARKED = {"jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park"};

    private static String[] parkedIn(String... frames) {
        return Stream.concat(Stream.of(PARKED), Stream.of(frames)).toArray(String[]::new);
    }

    @Test
    void tomcatsIdleWorkerHasNoRequestAndABusyOneHas() {
        Activity idle = activity(parkedIn("java.util.concurrent.LinkedBlockingQueue.take",
                "org.apache.tomcat.util.threads.TaskQueue.take", "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask",
                "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker", "java.lang.Thread.run"));
        assertEquals(Role.WORKER, idle.role());
        Activity busy = activity(parkedIn("java.util.concurrent.LinkedBlockingQueue.take", "shop.Orders.next",
                "jakarta.servlet.http.HttpServlet.service", "org.apache.tomcat.util.net.SocketProcessorBase.run",
                "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker", "java.lang.Thread.run"));
        assertEquals(new Activity(State.QUEUE, "java.util.concurrent.LinkedBlockingQueue", "shop.Orders.next:7", null,
                Role.REQUEST), busy);
    }

    @Test
    void jettysReservedThreadIsIdle() {
        Activity reserved = activity(parkedIn("java.util.concurrent.SynchronousQueue.poll",
                "org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.reservedWait",
                "org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.run",
                "org.eclipse.jetty.util.thread.QueuedThreadPool.runJob", "java.lang.Thread.run"));
        assertEquals(Role.WORKER, reserved.role());
    }

    @Test
    void connectorThatWaitsForConnectionsHoldsNoRequest() {
        assertEquals(Role.OTHER, activity("sun.nio.ch.EPoll.wait", "sun.nio.ch.EPollSelectorImpl.doSelect",
                "sun.nio.ch.SelectorImpl.lockAndDoSelect", "org.apache.tomcat.util.net.NioEndpoint$Poller.run",
                "java.lang.Thread.run").role());
    }

    @Test
    void crossoverIsNoApplication() {
        assertEquals(Role.OTHER, activity("sun.nio.ch.EPoll.wait", "sun.nio.ch.EPollSelectorImpl.doSelect",
                "org.eclipse.jetty.io.ManagedSelector$SelectorProducer.produce",
                "dev.threadcount.probe.crossover.inside.JettyProducer.produce",
                "org.eclipse.jetty.util.thread.strategy.AdaptiveExecutionStrategy.produceTask", "java.lang.Thread.run").role());
        Activity request = activity(parkedIn("shop.Orders.next", "org.apache.tomcat.util.net.SocketProcessorBase.run",
                "dev.threadcount.probe.crossover.CountedTask.run", "java.lang.VirtualThread.run"));
        assertEquals(Role.REQUEST, request.role());
    }

    @Test
    void jobOfTheApplicationIsNoRequestOfAServer() {
        assertEquals(Role.APPLICATION, activity(parkedIn("shop.Nightly.run", "java.lang.Thread.run")).role());
    }

    private static final String PIPELINE = "io.netty.channel.AbstractChannelHandlerContext.invokeChannelRead";

    @Test
    void nettysFramesAreAServersOrAClients() {
        assertEquals(Role.REQUEST, activity("shop.Orders.handle", "reactor.netty.http.server.HttpServerOperations.onInboundNext",
                PIPELINE).role());
        assertEquals(Role.CLIENT, activity("shop.Orders.received", "io.lettuce.core.protocol.CommandHandler.channelRead",
                PIPELINE).role());
        assertEquals(Role.OTHER, activity("io.lettuce.core.protocol.CommandHandler.decode", PIPELINE).role());
        // If a server calls a client, the request is the server's.
        assertEquals(Role.REQUEST, activity("io.lettuce.core.RedisChannelHandler.dispatch", "shop.Orders.handle", PIPELINE).role());
    }
}
