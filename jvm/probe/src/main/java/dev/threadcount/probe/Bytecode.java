package dev.threadcount.probe;

import java.nio.ByteBuffer;

/** How long the instructions of the JVM are (JVMS 6.5). */
final class Bytecode {
    private static final int TABLESWITCH = 0xaa;
    private static final int LOOKUPSWITCH = 0xab;
    private static final int WIDE = 0xc4;
    private static final int IINC = 0x84;

    private Bytecode() {}

    /** In bytes, with the opcode itself. */
    static int length(ByteBuffer code, int at) {
        int opcode = code.get(at) & 0xff;
        int aligned = at + 4 - at % 4;
        return switch (opcode) {
            case 0x10, 0x12, 0x15, 0x16, 0x17, 0x18, 0x19, 0x36, 0x37, 0x38, 0x39, 0x3a, 0xa9, 0xbc -> 2;
            case 0x11, 0x13, 0x14, IINC, 0xbb, 0xbd, 0xc0, 0xc1, 0xc6, 0xc7 -> 3;
            case 0xc5 -> 4;
            case 0xb9, 0xba, 0xc8, 0xc9 -> 5;
            case WIDE -> (code.get(at + 1) & 0xff) == IINC ? 6 : 4;
            case TABLESWITCH -> aligned - at + 12 + 4 * (code.getInt(aligned + 8) - code.getInt(aligned + 4) + 1);
            case LOOKUPSWITCH -> aligned - at + 8 + 8 * code.getInt(aligned + 4);
            default -> opcode >= 0x99 && opcode <= 0xa8 || opcode >= 0xb2 && opcode <= 0xb8 ? 3 : 1;
        };
    }
}
