package dev.threadcount.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The size limit for files of this process ({@code ulimit -f}). It may change while the process runs ({@code prlimit}). */
final class FileSizeLimit {
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final Pattern SOFT_BYTES = Pattern.compile("(?m)^Max file size +(\\d+) ");

    private FileSizeLimit() {}

    /** Says why a file cannot have this many bytes, or null if it can. */
    static String lack(long neededBytes) {
        try {
            return lack(Files.readString(LIMITS), neededBytes);
        } catch (IOException unknown) {
            return null;
        }
    }

    static String lack(String limits, long neededBytes) {
        Matcher soft = SOFT_BYTES.matcher(limits);
        // A number that is too large for a long is no limit.
        if (!soft.find() || soft.group(1).length() > 18 || Long.parseLong(soft.group(1)) >= neededBytes) {
            return null;
        }
        return "a file of this JVM may have " + (Long.parseLong(soft.group(1)) >> 20) + " MiB and " + (neededBytes >> 20)
                + " MiB are needed; raise `ulimit -f` (`prlimit --pid PID --fsize=unlimited:`)";
    }
}
