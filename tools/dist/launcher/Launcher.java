package dev.threadcount.launcher;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Starts the program that is in this jar, for `jbang threadcount` and `java -jar`. */
public final class Launcher {
    private static final String PROGRAM = "/threadcount";

    private Launcher() {
    }

    public static void main(String[] arguments) throws Exception {
        if (!System.getProperty("os.name").equals("Linux") || !System.getProperty("os.arch").equals("amd64")) {
            System.err.println("threadcount: this jar holds a program for Linux on x86_64");
            System.exit(2);
        }
        List<String> command = new ArrayList<>(List.of(unpacked().toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).inheritIO().start();
        // A signal to this JVM alone ends the program too; Ctrl-C reaches both.
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        System.exit(process.waitFor());
    }

    /** Unpacks the program into a folder by its checksum, which is compared at each start. A folder per start would cost 20 MB each. */
    private static Path unpacked() throws Exception {
        byte[] program = program();
        String checksum = checksum(program);
        Path folder = cache().resolve("threadcount").resolve("launcher");
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        if (!Files.getOwner(folder).equals(Files.getOwner(Path.of("/proc/self")))) {
            throw new IOException(folder + " belongs to another user");
        }
        Path target = folder.resolve("threadcount-" + checksum.substring(0, 12));
        if (Files.isRegularFile(target, java.nio.file.LinkOption.NOFOLLOW_LINKS) && checksum(Files.readAllBytes(target)).equals(checksum)) {
            return target;
        }
        Path partial = Files.createTempFile(folder, ".unpack-", "",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.write(partial, program);
        try {
            Files.move(partial, target, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            Files.deleteIfExists(partial);
            throw e;
        }
        return target;
    }

    private static byte[] program() throws IOException {
        try (InputStream stream = Launcher.class.getResourceAsStream(PROGRAM)) {
            return stream.readAllBytes();
        }
    }

    private static String checksum(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    private static Path cache() {
        String named = System.getenv("XDG_CACHE_HOME");
        if (named != null && named.startsWith("/")) {
            return Path.of(named);
        }
        // The program does the same. Java's user.home comes from the user database, where a container's user often has none.
        String home = System.getenv("HOME");
        return Path.of(home != null && home.startsWith("/") ? home : System.getProperty("user.home"), ".cache");
    }
}
