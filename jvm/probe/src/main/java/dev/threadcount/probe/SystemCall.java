package dev.threadcount.probe;

import java.io.IOException;
import java.util.Set;

/**
 * The system call that a thread is in, from {@code /proc/self/task/TID/syscall}: its number and its arguments.
 *
 * @param direct calls whose first argument is the descriptor
 * @param poll calls whose first argument is the address of a descriptor
 */
record SystemCall(Set<Integer> direct, Set<Integer> poll) {
    /** Reads 32 bits of this process's memory. */
    interface Memory {
        int read(long address) throws IOException;
    }

    /** The numbers of read, write, connect, accept, sendto, recvfrom, sendmsg, recvmsg, readv, writev, pread, pwrite, fsync. */
    private static final SystemCall X86_64 =
            new SystemCall(Set.of(0, 1, 42, 43, 44, 45, 46, 47, 19, 20, 17, 18, 74, 75, 288), Set.of(7, 271));
    private static final SystemCall AARCH64 =
            new SystemCall(Set.of(63, 64, 203, 202, 206, 207, 211, 212, 65, 66, 67, 68, 82, 83, 242), Set.of(73));

    static SystemCall ofThisMachine() {
        return switch (System.getProperty("os.arch")) {
            case "amd64", "x86_64" -> X86_64;
            case "aarch64" -> AARCH64;
            default -> new SystemCall(Set.of(), Set.of());
        };
    }

    /** The descriptor that the call is about, or -1 for none or another call. */
    int descriptor(String call, Memory memory) throws IOException {
        String[] fields = call == null ? new String[0] : call.strip().split(" ");
        if (fields.length < 3 || !Character.isDigit(fields[0].charAt(0))) {
            return -1;
        }
        int number = Integer.parseInt(fields[0]);
        long first = Long.parseUnsignedLong(fields[1].substring(2), 16);
        if (direct.contains(number)) {
            return (int) first;
        }
        boolean isOne = poll.contains(number) && Long.parseUnsignedLong(fields[2].substring(2), 16) == 1;
        return isOne ? memory.read(first) : -1;
    }
}
