package dev.threadcount.probe;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds out whether a place in a method lies inside a {@code synchronized} block, from the class file alone.
 *
 * <p>Java 21's pinned event does not have the frame that holds the monitor. A compiler guards each synchronized block with
 * an exception handler for any type that starts with {@code astore, aload, monitorexit} (JVMS 3.14); a bytecode index
 * inside the range of such a handler holds the monitor.
 */
final class MonitorScan {
    private static final int MONITOREXIT = 0xc3;

    /** A guarded stretch of bytecode, from inclusive to exclusive. */
    private record Range(int from, int to) {}

    private final Map<String, List<Range>> rangesByMethod;

    private MonitorScan(Map<String, List<Range>> rangesByMethod) {
        this.rangesByMethod = rangesByMethod;
    }

    /** A scan that finds nothing, for classes whose file is not available. */
    static MonitorScan nothing() {
        return new MonitorScan(Map.of());
    }

    /**
     * Reads a class file.
     *
     * @throws IOException when it is no class file
     */
    static MonitorScan of(InputStream classFile) throws IOException {
        return new Reader(new DataInputStream(classFile)).read();
    }

    /** Whether this place lies inside a synchronized block of its method. */
    boolean holdsMonitor(String method, String descriptor, int bytecodeIndex) {
        return rangesByMethod.getOrDefault(method + descriptor, List.of()).stream()
                .anyMatch(range -> range.from() <= bytecodeIndex && bytecodeIndex < range.to());
    }

    /** The few parts of a class file (JVMS chapter 4) that matter here. */
    private static final class Reader {
        private static final int MAGIC = 0xCAFEBABE;
        private final DataInputStream in;
        private String[] texts;

        Reader(DataInputStream in) {
            this.in = in;
        }

        MonitorScan read() throws IOException {
            if (in.readInt() != MAGIC) {
                throw new IOException("not a class file");
            }
            in.skipNBytes(4);
            readConstants();
            in.skipNBytes(6);
            in.skipNBytes(2L * in.readUnsignedShort());
            for (int fields = in.readUnsignedShort(); fields > 0; fields--) {
                in.skipNBytes(6);
                skipAttributes();
            }
            Map<String, List<Range>> found = new HashMap<>();
            for (int methods = in.readUnsignedShort(); methods > 0; methods--) {
                in.skipNBytes(2);
                String method = texts[in.readUnsignedShort()] + texts[in.readUnsignedShort()];
                List<Range> ranges = readMethod();
                if (!ranges.isEmpty()) {
                    found.put(method, ranges);
                }
            }
            return new MonitorScan(found);
        }

        private void readConstants() throws IOException {
            texts = new String[in.readUnsignedShort()];
            for (int i = 1; i < texts.length; i++) {
                int tag = in.readUnsignedByte();
                switch (tag) {
                    case 1 -> texts[i] = in.readUTF();
                    case 3, 4, 9, 10, 11, 12, 17, 18 -> in.skipNBytes(4);
                    case 5, 6 -> {
                        in.skipNBytes(8);
                        i++;
                    }
                    case 7, 8, 16, 19, 20 -> in.skipNBytes(2);
                    case 15 -> in.skipNBytes(3);
                    default -> throw new IOException("unknown constant " + tag);
                }
            }
        }

        private void skipAttributes() throws IOException {
            for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
                in.skipNBytes(2);
                in.skipNBytes(in.readInt());
            }
        }

        private List<Range> readMethod() throws IOException {
            List<Range> ranges = new ArrayList<>();
            for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
                String name = texts[in.readUnsignedShort()];
                byte[] content = in.readNBytes(in.readInt());
                if (name.equals("Code")) {
                    ranges.addAll(guardedRanges(new DataInputStream(new ByteArrayInputStream(content))));
                }
            }
            return ranges;
        }

        private static List<Range> guardedRanges(DataInputStream code) throws IOException {
            code.skipNBytes(4);
            byte[] bytes = code.readNBytes(code.readInt());
            List<Range> ranges = new ArrayList<>();
            for (int entries = code.readUnsignedShort(); entries > 0; entries--) {
                int from = code.readUnsignedShort();
                int to = code.readUnsignedShort();
                int handler = code.readUnsignedShort();
                boolean anyType = code.readUnsignedShort() == 0;
                // The handler guards itself too; its own range is not part of the block.
                if (anyType && from < handler && startsWithMonitorExit(bytes, handler)) {
                    ranges.add(new Range(from, to));
                }
            }
            return ranges;
        }

        private static boolean startsWithMonitorExit(byte[] code, int handler) {
            int afterStore = handler + length(code, handler, 0x3a, 0x4b);
            int afterLoad = afterStore + length(code, afterStore, 0x19, 0x2a);
            return afterLoad > afterStore && afterStore > handler && afterLoad < code.length
                    && (code[afterLoad] & 0xff) == MONITOREXIT;
        }

        /** The length of an aload or astore at a place, in its long form or one of its four short forms, or else 0. */
        private static int length(byte[] code, int at, int longForm, int firstShortForm) {
            if (at >= code.length) {
                return 0;
            }
            int opcode = code[at] & 0xff;
            if (opcode == longForm) {
                return 2;
            }
            return opcode >= firstShortForm && opcode < firstShortForm + 4 ? 1 : 0;
        }
    }
}
