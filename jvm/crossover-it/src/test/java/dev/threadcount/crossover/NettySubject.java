package dev.threadcount.crossover;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A server on event loops. */
final class NettySubject implements Subject {
    private final MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel channel;

    private NettySubject() throws InterruptedException {
        channel = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter()).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
    }

    @Override
    public int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    @Override
    public void stop() throws InterruptedException {
        channel.close().sync();
        loops.shutdownGracefully();
    }

    @Override
    public Object executor() {
        return loops;
    }

    public static void main(String[] arguments) throws Exception {
        Subject.serve(new NettySubject());
    }
}
