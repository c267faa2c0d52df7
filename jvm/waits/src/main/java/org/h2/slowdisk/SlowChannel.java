package org.h2.slowdisk;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/**
 * A file whose forcing to the disk waits until a byte can be read from the file in the system property {@code slow.file}. With a pipe, each
 * byte in it allows one force.
 */
final class SlowChannel extends FileChannel {
    private final FileChannel base;

    SlowChannel(FileChannel base) {
        this.base = base;
    }

    @Override
    public void force(boolean metaData) throws IOException {
        try (RandomAccessFile pipe = new RandomAccessFile(System.getProperty("slow.file"), "rw")) {
            pipe.read();
        }
        base.force(metaData);
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
        return base.read(to);
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) throws IOException {
        return base.read(to, offset, length);
    }

    @Override
    public int read(ByteBuffer to, long position) throws IOException {
        return base.read(to, position);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return base.write(from);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        return base.write(from, offset, length);
    }

    @Override
    public int write(ByteBuffer from, long position) throws IOException {
        return base.write(from, position);
    }

    @Override
    public long position() throws IOException {
        return base.position();
    }

    @Override
    public FileChannel position(long position) throws IOException {
        base.position(position);
        return this;
    }

    @Override
    public long size() throws IOException {
        return base.size();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        base.truncate(size);
        return this;
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel to) throws IOException {
        return base.transferTo(position, count, to);
    }

    @Override
    public long transferFrom(ReadableByteChannel from, long position, long count) throws IOException {
        return base.transferFrom(from, position, count);
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
        return base.map(mode, position, size);
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) throws IOException {
        return base.lock(position, size, shared);
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
        return base.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
        base.close();
    }
}
