package dev.threadcount.probe;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Which methods give permits of a semaphore back. Who waits for a permit in such a method shall give it back there; in others the
 * semaphore may be a signal, for which idle workers wait for good reason.
 */
final class ReleaseScan {
    private static final String SEMAPHORE = "java/util/concurrent/Semaphore";
    private static final byte INVOKEVIRTUAL = (byte) 0xb6;
    /** Constant pool: tags whose entry has four bytes, and those with two, three and eight. */
    private static final Set<Integer> FOUR = Set.of(3, 4, 9, 10, 11, 12, 17, 18);
    private static final Set<Integer> TWO = Set.of(7, 8, 16, 19, 20);

    private final Instrumentation instrumentation;
    private final Map<String, Set<String>> known = new HashMap<>();

    ReleaseScan(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** Whether a method of a program on this stack gives permits back. */
    boolean isGivenBackOn(StackTraceElement[] stack) {
        for (StackTraceElement frame : stack) {
            boolean ofJdk = "java.base".equals(frame.getModuleName());
            if (!ofJdk && known.computeIfAbsent(frame.getClassName(), this::methods).contains(frame.getMethodName())) {
                return true;
            }
        }
        return false;
    }

    private Set<String> methods(String className) {
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getName().equals(className)) {
                try (InputStream file = loaded.getResourceAsStream("/" + className.replace('.', '/') + ".class")) {
                    return file == null ? Set.of() : methods(new DataInputStream(file));
                } catch (IOException unreadable) {
                    return Set.of();
                }
            }
        }
        return Set.of();
    }

    /** The names of the methods that call {@code Semaphore.release} (JVMS 4.1). */
    static Set<String> methods(DataInputStream in) throws IOException {
        in.readLong();
        int count = in.readUnsignedShort();
        String[] texts = new String[count];
        int[] first = new int[count];
        int[] second = new int[count];
        Set<Integer> references = new HashSet<>();
        for (int at = 1; at < count; at++) {
            int tag = in.readUnsignedByte();
            if (tag == 1) {
                texts[at] = in.readUTF();
            } else if (FOUR.contains(tag)) {
                first[at] = in.readUnsignedShort();
                second[at] = in.readUnsignedShort();
                if (tag == 10) {
                    references.add(at);
                }
            } else if (TWO.contains(tag)) {
                first[at] = in.readUnsignedShort();
            } else if (tag == 15) {
                in.skipNBytes(3);
            } else {
                in.readLong();
                at++;
            }
        }
        references.removeIf(at -> !SEMAPHORE.equals(texts[first[first[at]]]) || !"release".equals(texts[first[second[at]]]));
        in.skipNBytes(6);
        in.skipNBytes(2L * in.readUnsignedShort());
        Set<String> found = new HashSet<>();
        members(in, texts, references, new HashSet<>());
        members(in, texts, references, found);
        return found;
    }

    /** Fields or methods. */
    private static void members(DataInputStream in, String[] texts, Set<Integer> references, Set<String> found)
            throws IOException {
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            in.readUnsignedShort();
            String name = texts[in.readUnsignedShort()];
            in.readUnsignedShort();
            for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
                boolean isCode = "Code".equals(texts[in.readUnsignedShort()]);
                byte[] bytes = in.readNBytes(in.readInt());
                if (isCode && calls(bytes, references)) {
                    found.add(name);
                }
            }
        }
    }

    /** The three bytes of the call; what else looks like them is rare. */
    private static boolean calls(byte[] code, Set<Integer> references) {
        for (int at = 0; at + 2 < code.length; at++) {
            if (code[at] == INVOKEVIRTUAL
                    && references.contains((code[at + 1] & 0xff) << 8 | code[at + 2] & 0xff)) {
                return true;
            }
        }
        return false;
    }
}
