package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Which lock each thread waits for, who owns it, and how many permits are left: what a thread dump does not have, of virtual
 * threads in particular. Taken by the JVM's attach listener, a platform thread, so that it works while all carriers are held.
 */
final class LockSnapshot {
    private final JvmAccess jvm;

    private final ReleaseScan releases;

    LockSnapshot(JvmAccess jvm, ReleaseScan releases) {
        this.jvm = jvm;
        this.releases = releases;
    }

    /** Writes a line per thread that waits for a lock or monitor, and a last line when all are written. */
    void writeTo(Output output) throws IOException {
        jvm.forEachThread(thread -> {
            Object blocker = LockSupport.getBlocker(thread);
            Thread.State state = thread.getState();
            if (blocker != null || state == Thread.State.BLOCKED) {
                output.write(line(thread, state, blocker));
            }
        });
        output.write(JsonLine.of("end", System.nanoTime()));
        if (!output.flush()) {
            throw new IOException("the snapshot of locks cannot be written");
        }
    }

    private JsonLine line(Thread thread, Thread.State state, Object blocker) {
        JsonLine line = JsonLine.of("waits", System.nanoTime())
                .put("tid", thread.threadId())
                .put("virtual", thread.isVirtual())
                .put("state", state.name());
        if (blocker != null) {
            Thread owner = jvm.ownerOf(blocker);
            line.put("lock", blocker.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(blocker)))
                    .put("owner", owner == null ? -1 : owner.threadId())
                    .put("owner_name", owner == null ? null : owner.getName())
                    .put("value", jvm.stateOf(blocker));
            if (blocker.getClass().getEnclosingClass() == Semaphore.class) {
                line.put("gives_back", releases.isGivenBackOn(thread.getStackTrace()));
            }
        }
        return line;
    }
}
