package dev.threadcount.probe;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Of which semaphores the methods of a class take permits, and of which they give them back, as far as its file shows (JVMS 4). */
final class SemaphoreCalls {
    /** It is not a variable or a field. */
    static final String UNKNOWN = "?";

    private static final String SEMAPHORE = "java/util/concurrent/Semaphore";
    private static final String UNIT = "Ljava/util/concurrent/TimeUnit;";
    private static final Set<String> TAKES = Set.of("acquire", "acquireUninterruptibly", "tryAcquire");

    /**
     * The semaphores of one method: a variable, or the fields that lead to it from one ({@code 0>Shop.next>Shop.permits}).
     */
    record Calls(Set<String> taken, Set<String> given) {
        Calls() {
            this(new HashSet<>(), new HashSet<>());
        }
    }

    private final DataInputStream in;
    private final Map<String, Calls> found = new HashMap<>();
    private String[] texts;
    private int[] first;
    private int[] second;

    private SemaphoreCalls(DataInputStream in) {
        this.in = in;
    }

    /** By name of the method; those of one name count as one. */
    static Map<String, Calls> of(DataInputStream classFile) throws IOException {
        return new SemaphoreCalls(classFile).read();
    }

    private Map<String, Calls> read() throws IOException {
        in.readLong();
        readConstants();
        in.skipNBytes(6);
        in.skipNBytes(2L * in.readUnsignedShort());
        readMembers();
        readMembers();
        return found;
    }

    private void readConstants() throws IOException {
        int count = in.readUnsignedShort();
        texts = new String[count];
        first = new int[count];
        second = new int[count];
        for (int at = 1; at < count; at++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case 1 -> texts[at] = in.readUTF();
                case 3, 4, 9, 10, 11, 12, 17, 18 -> {
                    first[at] = in.readUnsignedShort();
                    second[at] = in.readUnsignedShort();
                }
                case 7, 8, 16, 19, 20 -> first[at] = in.readUnsignedShort();
                case 15 -> in.skipNBytes(3);
                case 5, 6 -> {
                    in.skipNBytes(8);
                    at++;
                }
                default -> throw new IOException("unknown constant " + tag);
            }
        }
    }

    /** Fields or methods. */
    private void readMembers() throws IOException {
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            in.skipNBytes(2);
            String name = texts[in.readUnsignedShort()];
            in.skipNBytes(2);
            for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
                boolean isCode = "Code".equals(texts[in.readUnsignedShort()]);
                byte[] bytes = in.readNBytes(in.readInt());
                if (isCode) {
                    // Stack and locals come first, then the length of the code.
                    ByteBuffer code = ByteBuffer.wrap(bytes, 8, ByteBuffer.wrap(bytes).getInt(4)).slice();
                    readCode(code, found.computeIfAbsent(name, any -> new Calls()));
                }
            }
        }
    }

    private void readCode(ByteBuffer code, Calls calls) {
        String path = UNKNOWN;
        for (int at = 0; at < code.limit(); at += Bytecode.length(code, at)) {
            int opcode = code.get(at) & 0xff;
            path = switch (opcode) {
                // What lies on top of it: numbers, a copy, a cast.
                case 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x1a, 0x1b, 0x1c,
                        0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x59, 0xc0 -> path;
                case 0x19 -> Integer.toString(code.get(at + 1) & 0xff);
                case 0x2a, 0x2b, 0x2c, 0x2d -> Integer.toString(opcode - 0x2a);
                case 0xb2 -> UNIT.equals(descriptor(code, at)) ? path : field("", code, at);
                case 0xb4 -> path.equals(UNKNOWN) ? path : field(path, code, at);
                case 0xb6 -> call(path, code, at, calls);
                default -> UNKNOWN;
            };
        }
    }

    private String call(String path, ByteBuffer code, int at, Calls calls) {
        int reference = code.getShort(at + 1) & 0xffff;
        if (SEMAPHORE.equals(texts[first[first[reference]]])) {
            String name = texts[first[second[reference]]];
            // The last thing on the stack may be how many.
            boolean isSure = descriptor(code, at).startsWith("()") || path.endsWith("=");
            String semaphore = isSure || path.indexOf('>') < 0 ? path.replace("=", "") : UNKNOWN;
            if (TAKES.contains(name)) {
                calls.taken().add(semaphore);
            } else if (name.equals("release")) {
                calls.given().add(semaphore);
            }
        }
        return UNKNOWN;
    }

    private String field(String path, ByteBuffer code, int at) {
        int reference = code.getShort(at + 1) & 0xffff;
        boolean isSemaphore = ("L" + SEMAPHORE + ";").equals(descriptor(code, at));
        return path + ">" + texts[first[first[reference]]] + "." + texts[first[second[reference]]] + (isSemaphore ? "=" : "");
    }

    private String descriptor(ByteBuffer code, int at) {
        return texts[second[second[code.getShort(at + 1) & 0xffff]]];
    }
}
