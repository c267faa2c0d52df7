import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.ArrayList;
import java.util.List;

/** A service that answers each line, and takes on demand all that its limits leave. */
public class Answers {
    private static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        // Loaded before a limit is reached.
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        KEPT.add(new FileInputStream("/dev/null"));
        System.out.println("answer: up");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "fill" -> fill(Long.parseLong(words[1]));
                case "classes" -> classes(Long.parseLong(words[1]));
                case "files" -> files();
                case "litter" -> litter(Long.parseLong(words[1]));
                case "collect" -> System.gc();
                default -> { }
            }
            System.out.println("answer: " + line);
        }
    }

    /** Holds all of the heap but so many bytes. */
    private static void fill(long leftBytes) {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        while (runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory() > leftBytes) {
            KEPT.add(new byte[64 << 10]);
        }
        System.gc();
    }

    /** Defines classes until so many bytes are left of the space for classes. */
    private static void classes(long leftBytes) throws Exception {
        byte[] own = Answers.class.getResourceAsStream("/Answers.class").readAllBytes();
        MemoryPoolMXBean space = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(it -> it.getName().equals("Compressed Class Space")).findFirst().orElseThrow();
        while (space.getUsage().getMax() - space.getUsage().getCommitted() > leftBytes) {
            KEPT.add(MethodHandles.lookup().defineHiddenClass(own, false, MethodHandles.Lookup.ClassOption.STRONG));
        }
    }

    /** Allocates so many bytes, and holds none of them. */
    private static void litter(long bytes) {
        for (long left = bytes; left > 0; left -= 64 << 10) {
            KEPT.set(0, new byte[64 << 10]);
        }
    }

    private static void files() {
        try {
            while (true) {
                KEPT.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException noneLeft) {
            // All are open.
        }
    }
}
