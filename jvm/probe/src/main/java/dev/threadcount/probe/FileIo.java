package dev.threadcount.probe;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;

/** Files that virtual threads read, write or force to the disk. In every Java the thread keeps its carrier during that time. */
final class FileIo {
    /** The shortest duration that counts. A shorter one is little more than a copy from memory. */
    static final Duration THRESHOLD = Duration.ofMillis(1);
    /** The names of the flight recorder's events. */
    static final List<String> KINDS = List.of("FileRead", "FileWrite", "FileForce");
    /** The largest number of different paths, because a server that makes a file for each request has no end of them. */
    private static final int MOST_PATHS = 50;

    private final Set<String> paths = new HashSet<>();

    /** Whether a virtual thread kept its carrier long enough. Another recording of this JVM may have set a lower threshold. */
    static boolean blocksCarrier(RecordedEvent event) {
        RecordedThread thread = event.getThread();
        return thread != null && thread.isVirtual() && event.getDuration().compareTo(THRESHOLD) >= 0;
    }

    /** The frame of the application, and that of the library that it called. */
    static Site site(RecordedStackTrace stack) {
        return new Site(null, Site.application(stack), Site.outsideJdk(stack));
    }

    /** The name of an operation, such as {@code file write /var/lib/shop.db}. */
    String what(String kind, RecordedEvent event) {
        String does = switch (kind) {
            case "FileRead" -> "file read ";
            case "FileWrite" -> "file write ";
            default -> "file force ";
        };
        return does + known(event.getString("path"));
    }

    /** The path, or a word for all further paths if there are too many. */
    String known(String path) {
        if (path == null) {
            return "a file";
        }
        boolean isNamed = paths.contains(path) || paths.size() < MOST_PATHS && paths.add(path);
        return isNamed ? path : "other files";
    }
}
