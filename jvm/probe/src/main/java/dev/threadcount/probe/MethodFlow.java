package dev.threadcount.probe;

import dev.threadcount.probe.ClassFile.Member;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The way that a method takes through its instructions: which of them follow each other, and what its calls concern. */
final class MethodFlow {
    private static final int GOTO = 0xa7;
    private static final int GOTO_W = 0xc8;
    private static final int TABLESWITCH = 0xaa;
    private static final int LOOKUPSWITCH = 0xab;
    private static final int IFNULL = 0xc6;
    private static final int IFNONNULL = 0xc7;
    private static final int ATHROW = 0xbf;
    private static final int MONITORENTER = 0xc2;
    private static final String UNIT = "Ljava/util/concurrent/TimeUnit;";
    /** What they return changes by itself, or by chance. */
    private static final String[] CLOCKS = {
        "java/lang/System", "java/lang/Thread", "java/lang/Math", "java/time/", "java/util/concurrent/TimeUnit", "java/util/Random",
        "java/util/concurrent/ThreadLocalRandom"
    };

    /**
     * A call.
     *
     * @param variables the numbers of the local variables that its statement reads
     */
    record Call(int at, Member member, BitSet variables) {}

    private final ClassFile file;
    private final ClassFile.Method method;
    private final ByteBuffer code;
    private final TreeMap<Integer, Call> calls = new TreeMap<>();

    MethodFlow(ClassFile file, ClassFile.Method method) {
        this.file = file;
        this.method = method;
        code = method.code();
        findCalls();
    }

    String name() {
        return method.name();
    }

    boolean hasLine(int line) {
        return method.lines().containsValue(line);
    }

    int lineOf(int at) {
        Map.Entry<Integer, Integer> line = method.lines().floorEntry(at);
        return line == null ? -1 : line.getValue();
    }

    Iterable<Call> calls() {
        return calls.values();
    }

    /** The call of a method with this name at this line; null for none. */
    Call callAtLine(int line, String name) {
        return calls.values().stream().filter(call -> call.member().name().equals(name) && lineOf(call.at()) == line).findFirst().orElse(null);
    }

    /** Whether one of the instructions is at this line, and calls this method where one there does; null: no call. */
    boolean isAt(BitSet instructions, int line, String called) {
        boolean callsIt = calls.values().stream().anyMatch(call -> lineOf(call.at()) == line && call.member().name().equals(called));
        return instructions.stream().anyMatch(at -> lineOf(at) == line
                && (!callsIt || calls.containsKey(at) && calls.get(at).member().name().equals(called)));
    }

    /** The instructions that may come after this call. */
    BitSet after(Call call) {
        BitSet known = new BitSet();
        Deque<Integer> left = new ArrayDeque<>(List.of(next(call.at())));
        while (!left.isEmpty()) {
            int at = left.poll();
            if (at < code.limit() && !known.get(at)) {
                known.set(at);
                left.addAll(following(at));
            }
        }
        return known;
    }

    /** The instructions on a way from this call back to it; none where it is in no loop. */
    BitSet loopOf(Call call) {
        BitSet after = after(call);
        BitSet loop = new BitSet();
        loop.set(call.at(), after.get(call.at()));
        for (int before = -1; before < loop.cardinality();) {
            before = loop.cardinality();
            for (int at = after.length() - 1; at >= 0; at = after.previousSetBit(at - 1)) {
                loop.set(at, loop.get(at) || following(at).stream().anyMatch(loop::get));
            }
        }
        return loop;
    }

    /** Whether a loop around a pause reads what other threads may change, and does nothing else. */
    boolean onlyChecks(BitSet loop, Call pause) {
        boolean checks = false;
        for (int at = loop.nextSetBit(0); at >= 0; at = loop.nextSetBit(at + 1)) {
            int opcode = opcode(at);
            checks |= (opcode == 0xb4 || opcode == 0xb2) && !file.memberAt(code, at).descriptor().equals(UNIT);
            Call call = calls.get(at);
            if (call == null || call.at() == pause.at() || isClock(call.member().owner()) || call.member().name().equals("<init>")) {
                continue;
            }
            int after = next(at);
            boolean isAction = call.member().descriptor().endsWith(")V")
                    || after < code.limit() && (opcode(after) == 0x57 || opcode(after) == 0x58);
            if (isAction && !call.member().owner().startsWith("java/util/concurrent/")) {
                return false;
            }
            checks |= !isAction;
        }
        return checks;
    }

    private static boolean isClock(String owner) {
        for (String clock : CLOCKS) {
            if (owner.startsWith(clock)) {
                return true;
            }
        }
        return false;
    }

    /** Handlers are left out: what runs after an exception is another way. */
    private List<Integer> following(int at) {
        int opcode = opcode(at);
        List<Integer> found = new ArrayList<>();
        int target = opcode == GOTO_W ? at + code.getInt(at + 1) : at + (isBranch(opcode) ? code.getShort(at + 1) : 0);
        if (opcode == GOTO || opcode == GOTO_W) {
            found.add(target);
        } else if (opcode == TABLESWITCH || opcode == LOOKUPSWITCH) {
            addTargets(at, opcode, found);
        } else if (!isReturn(at) && opcode != ATHROW) {
            found.add(next(at));
            if (isBranch(opcode)) {
                found.add(target);
            }
        }
        return found;
    }

    private void addTargets(int at, int opcode, List<Integer> found) {
        int aligned = at + 4 - at % 4;
        found.add(at + code.getInt(aligned));
        int count = opcode == TABLESWITCH ? code.getInt(aligned + 8) - code.getInt(aligned + 4) + 1 : code.getInt(aligned + 4);
        for (int i = 0; i < count; i++) {
            found.add(at + code.getInt(opcode == TABLESWITCH ? aligned + 12 + 4 * i : aligned + 12 + 8 * i));
        }
    }

    /** A statement begins after a store, a jump, or a call that returns nothing. */
    private void findCalls() {
        BitSet variables = new BitSet();
        for (int at = 0; at < code.limit(); at = next(at)) {
            int opcode = opcode(at);
            int variable = variable(at, 0x15, 0x1a);
            if (variable >= 0) {
                variables.set(variable);
            }
            boolean isCall = opcode >= 0xb6 && opcode <= 0xb9;
            if (isCall) {
                Member member = file.memberAt(code, at);
                calls.put(at, new Call(at, member, (BitSet) variables.clone()));
            }
            boolean returnsNothing = isCall && file.memberAt(code, at).descriptor().endsWith(")V");
            if (endsStatement(at, opcode) || returnsNothing) {
                variables.clear();
            }
        }
    }

    private boolean isReturn(int at) {
        int opcode = opcode(at);
        return opcode >= 0xac && opcode <= 0xb1;
    }

    private boolean endsStatement(int at, int opcode) {
        return variable(at, 0x36, 0x3b) >= 0 || opcode == 0x57 || opcode == 0x58 || opcode == 0xb5 || opcode == 0xb3 || isBranch(opcode)
                || opcode == GOTO_W || opcode == TABLESWITCH || opcode == LOOKUPSWITCH || isReturn(at) || opcode == ATHROW
                || opcode == MONITORENTER || opcode == 0xc3 || opcode == 0x84;
    }

    /** Of an instruction that loads or stores one: its long form and the first of its short ones; -1 for others. */
    private int variable(int at, int longForm, int shortForm) {
        int opcode = opcode(at);
        if (opcode >= longForm && opcode <= longForm + 4) {
            return code.get(at + 1) & 0xff;
        }
        return opcode >= shortForm && opcode < shortForm + 20 ? (opcode - shortForm) % 4 : -1;
    }

    private static boolean isBranch(int opcode) {
        return opcode >= 0x99 && opcode <= GOTO || opcode == IFNULL || opcode == IFNONNULL;
    }

    private int opcode(int at) {
        return code.get(at) & 0xff;
    }

    private int next(int at) {
        return at + Bytecode.length(code, at);
    }
}
