package dev.threadcount.probe;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The code of a class, and what its instructions refer to (JVMS 4). */
final class ClassFile {
    /**
     * A method with code.
     *
     * @param lines where each line begins
     */
    record Method(String name, ByteBuffer code, NavigableMap<Integer, Integer> lines) {}

    /** What a call or a field instruction refers to. */
    record Member(String owner, String name, String descriptor) {}

    private final DataInputStream in;
    private final List<Method> methods = new ArrayList<>();
    private String[] texts;
    private int[] first;
    private int[] second;

    private ClassFile(DataInputStream in) {
        this.in = in;
    }

    static ClassFile read(DataInputStream in) throws IOException {
        ClassFile file = new ClassFile(in);
        in.readLong();
        file.readConstants();
        in.skipNBytes(6);
        in.skipNBytes(2L * in.readUnsignedShort());
        file.readMembers();
        file.readMembers();
        return file;
    }

    List<Method> methods() {
        return methods;
    }

    /** Of a call or a field instruction. */
    Member memberAt(ByteBuffer code, int at) {
        int reference = code.getShort(at + 1) & 0xffff;
        int nameAndType = second[reference];
        return new Member(texts[first[first[reference]]], texts[first[nameAndType]], texts[second[nameAndType]]);
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
                    methods.add(method(name, ByteBuffer.wrap(bytes)));
                }
            }
        }
    }

    /** Stack and locals come first, then the code, its handlers and its attributes. */
    private Method method(String name, ByteBuffer bytes) {
        int length = bytes.getInt(4);
        NavigableMap<Integer, Integer> lines = new TreeMap<>();
        bytes.position(8 + length);
        bytes.position(bytes.getShort() * 8 + bytes.position());
        for (int attributes = bytes.getShort(); attributes > 0; attributes--) {
            String attribute = texts[bytes.getShort() & 0xffff];
            int end = bytes.getInt() + bytes.position();
            if ("LineNumberTable".equals(attribute)) {
                for (int left = bytes.getShort(); left > 0; left--) {
                    lines.put(bytes.getShort() & 0xffff, bytes.getShort() & 0xffff);
                }
            }
            bytes.position(end);
        }
        return new Method(name, bytes.slice(8, length), lines);
    }
}
