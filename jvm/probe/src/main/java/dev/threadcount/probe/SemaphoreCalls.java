package dev.threadcount.probe;

import dev.threadcount.probe.ClassFile.Member;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Of which semaphores the methods of a class take permits, and of which they give them back, as far as its file shows. */
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

    private final ClassFile file;

    private SemaphoreCalls(ClassFile file) {
        this.file = file;
    }

    /** By name of the method; those of one name count as one. */
    static Map<String, Calls> of(ClassFile file) {
        SemaphoreCalls reader = new SemaphoreCalls(file);
        Map<String, Calls> found = new HashMap<>();
        for (ClassFile.Method method : reader.file.methods()) {
            reader.readCode(method.code(), found.computeIfAbsent(method.name(), any -> new Calls()));
        }
        return found;
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
                case 0xb2 -> UNIT.equals(file.memberAt(code, at).descriptor()) ? path : field("", code, at);
                case 0xb4 -> path.equals(UNKNOWN) ? path : field(path, code, at);
                case 0xb6 -> call(path, code, at, calls);
                default -> UNKNOWN;
            };
        }
    }

    private String call(String path, ByteBuffer code, int at, Calls calls) {
        Member called = file.memberAt(code, at);
        if (SEMAPHORE.equals(called.owner())) {
            // The last thing on the stack may be how many.
            boolean isSure = called.descriptor().startsWith("()") || path.endsWith("=");
            String semaphore = isSure || path.indexOf('>') < 0 ? path.replace("=", "") : UNKNOWN;
            if (TAKES.contains(called.name())) {
                calls.taken().add(semaphore);
            } else if (called.name().equals("release")) {
                calls.given().add(semaphore);
            }
        }
        return UNKNOWN;
    }

    private String field(String path, ByteBuffer code, int at) {
        Member field = file.memberAt(code, at);
        boolean isSemaphore = ("L" + SEMAPHORE + ";").equals(field.descriptor());
        return path + ">" + field.owner() + "." + field.name() + (isSemaphore ? "=" : "");
    }
}
