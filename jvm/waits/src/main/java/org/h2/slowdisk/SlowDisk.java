package org.h2.slowdisk;

import java.io.IOException;
import java.nio.channels.FileChannel;
import org.h2.store.fs.FilePathWrapper;

/** H2's files on a slow disk: {@code jdbc:h2:slow:/path}. It is in H2's package because a disk is no part of an application. */
public final class SlowDisk extends FilePathWrapper {
    @Override
    public String getScheme() {
        return "slow";
    }

    @Override
    public FileChannel open(String mode) throws IOException {
        return new SlowChannel(getBase().open(mode));
    }
}
