package dev.threadcount.probe;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;

/** Files that virtual threads read, write, or force to the disk: in every Java they keep their carrier meanwhile. */
final class FileIo {
    /** What is shorter is little more than a copy from memory. */
    static final Duration THRESHOLD = Duration.ofMillis(1);
    /** Of the flight recorder's events. */
    static final List<String> KINDS = List.of("FileRead", "FileWrite", "FileForce");
    /** A server that makes a file for each request has no end of them. */
    private static final int MOST_PATHS = 50;

    private final Set<String> paths = new HashSet<>();

    /** Another recording of this JVM may have set a lower threshold. */
    static boolean blocksCarrier(RecordedEvent event) {
        RecordedThread thread = event.getThread();
        return thread != null && thread.isVirtual() && event.getDuration().compareTo(THRESHOLD) >= 0;
    }

    /** The application's frame, and that of the library it called. */
    static Site site(RecordedStackTrace stack) {
        return new Site(null, Site.application(stack), Site.outsideJdk(stack));
    }

    /** As {@code file write /var/lib/shop.db}. */
    String what(String kind, RecordedEvent event) {
        String does = switch (kind) {
            case "FileRead" -> "file read ";
            case "FileWrite" -> "file write ";
            default -> "file force ";
        };
        return does + known(event.getString("path"));
    }

    /** The path, or what stands for all that are too many. */
    String known(String path) {
        if (path == null) {
            return "a file";
        }
        boolean isNamed = paths.contains(path) || paths.size() < MOST_PATHS && paths.add(path);
        return isNamed ? path : "other files";
    }
}
