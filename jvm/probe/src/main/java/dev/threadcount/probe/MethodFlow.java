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
import java.util.function.IntPredicate;

/** The way that a method takes through its instructions: which of them follow each other, and what its calls concern. */
final class MethodFlow {
    private static final int GOTO = 0xa7;
    private static final int GOTO_W = 0xc8;
    private static final int TABLESWITCH = 0xaa;
    private static final int LOOKUPSWITCH = 0xab;
    private static final int IFNULL = 0xc6;
    private static final int IFNONNULL = 0xc7;
    private static final int CHECKCAST = 0xc0;
    private static final int ATHROW = 0xbf;
    private static final int IFEQ = 0x99;
    private static final int IFNE = 0x9a;
    private static final int MONITORENTER = 0xc2;
    /** In place of the name of a method: it waits for a monitor. */
    static final String MONITOR = "<monitor>";
    private static final String UNIT = "Ljava/util/concurrent/TimeUnit;";
    /** What they return changes by itself, or by chance. */
    private static final String[] CLOCKS = {
        "java/lang/System", "java/lang/Thread", "java/lang/Math", "java/time/", "java/util/concurrent/TimeUnit", "java/util/Random",
        "java/util/concurrent/ThreadLocalRandom"
    };

    /**
     * A call.
     *
     * @param variables those that its statement reads: numbers of local variables
     * @param field the last field that its receiver's statement reads first, with its class; null for none
     */
    record Call(int at, Member member, BitSet variables, String field) {}

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

    Call callAt(int at) {
        return calls.get(at);
    }

    /** The call of a method with this name at this line; null for none. */
    Call callAtLine(int line, String name) {
        return calls.values().stream().filter(call -> call.member().name().equals(name) && lineOf(call.at()) == line).findFirst().orElse(null);
    }

    /** Whether one of the instructions is at this line, and calls this method where one there does; null: no call. Or enters a monitor. */
    boolean isAt(BitSet instructions, int line, String called) {
        if (MONITOR.equals(called)) {
            return instructions.stream().anyMatch(at -> lineOf(at) == line && opcode(at) == MONITORENTER);
        }
        boolean callsIt = calls.values().stream().anyMatch(call -> lineOf(call.at()) == line && call.member().name().equals(called));
        return instructions.stream().anyMatch(at -> lineOf(at) == line
                && (!callsIt || calls.containsKey(at) && calls.get(at).member().name().equals(called)));
    }

    boolean isReturn(int at) {
        int opcode = opcode(at);
        return opcode >= 0xac && opcode <= 0xb1;
    }

    /** Whether an object is put into an array. */
    boolean isElementStored(int at) {
        return opcode(at) == 0x53;
    }

    /** Whether an object is read from an array. */
    boolean isElementLoaded(int at) {
        return opcode(at) == 0x32;
    }

    /** The variable that keeps what the call returns; -1 for none. */
    int variableOf(Call call) {
        int at = next(call.at());
        if (at < code.limit() && opcode(at) == CHECKCAST) {
            at = next(at);
        }
        return at < code.limit() ? variable(at, 0x36, 0x3b) : -1;
    }

    /** The instructions that may come after a call that succeeds, without those after one that ends the way. */
    BitSet after(Call call, IntPredicate ends) {
        return after(call, afterSuccess(call), ends);
    }

    private BitSet after(Call call, int first, IntPredicate ends) {
        BitSet known = new BitSet();
        int variable = variableOf(call);
        Deque<Integer> left = new ArrayDeque<>(List.of(first));
        while (!left.isEmpty()) {
            int at = left.poll();
            if (at < code.limit() && !known.get(at)) {
                known.set(at);
                if (!ends.test(at)) {
                    left.addAll(following(at, variable));
                }
            }
        }
        return known;
    }

    /** The instructions on a way from this call back to it; none where it is in no loop. */
    BitSet loopOf(Call call) {
        BitSet after = after(call, next(call.at()), at -> false);
        BitSet loop = new BitSet();
        loop.set(call.at(), after.get(call.at()));
        for (int before = -1; before < loop.cardinality();) {
            before = loop.cardinality();
            for (int at = after.length() - 1; at >= 0; at = after.previousSetBit(at - 1)) {
                loop.set(at, loop.get(at) || following(at, -1).stream().anyMatch(loop::get));
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

    /** A call that returns false has failed. */
    private int afterSuccess(Call call) {
        int at = next(call.at());
        boolean isTested = call.member().descriptor().endsWith(")Z") && at < code.limit();
        if (isTested && opcode(at) == IFEQ) {
            return next(at);
        }
        return isTested && opcode(at) == IFNE ? at + code.getShort(at + 1) : at;
    }

    /** Handlers are left out: what runs after an exception is another way. */
    private List<Integer> following(int at, int variable) {
        int opcode = opcode(at);
        List<Integer> found = new ArrayList<>();
        int target = opcode == GOTO_W ? at + code.getInt(at + 1) : at + (isBranch(opcode) ? code.getShort(at + 1) : 0);
        if (opcode == GOTO || opcode == GOTO_W) {
            found.add(target);
        } else if (opcode == IFNULL || opcode == IFNONNULL) {
            // Of the variable that has it, only one way is taken.
            boolean isOfIt = variable >= 0 && variableBefore(at) == variable;
            if (!isOfIt || opcode == IFNONNULL) {
                found.add(target);
            }
            if (!isOfIt || opcode == IFNULL) {
                found.add(next(at));
            }
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

    private int variableBefore(int at) {
        int before = -1;
        for (int i = 0; i < at; i = next(i)) {
            before = i;
        }
        return before < 0 ? -1 : variable(before, 0x15, 0x1a);
    }

    /** A statement begins after a store, a jump, or a call that returns nothing. */
    private void findCalls() {
        BitSet variables = new BitSet();
        String field = null;
        boolean isFirst = true;
        for (int at = 0; at < code.limit(); at = next(at)) {
            int opcode = opcode(at);
            int variable = variable(at, 0x15, 0x1a);
            if (variable >= 0) {
                variables.set(variable);
            }
            if (opcode == 0xb4 || opcode == 0xb2) {
                Member member = file.memberAt(code, at);
                boolean isObject = member.descriptor().startsWith("L") && !member.descriptor().equals(UNIT);
                field = isFirst && isObject ? member.owner() + "." + member.name() : field;
            }
            boolean isCall = opcode >= 0xb6 && opcode <= 0xb9;
            if (isCall) {
                Member member = file.memberAt(code, at);
                calls.put(at, new Call(at, member, (BitSet) variables.clone(), field));
                isFirst = false;
            }
            boolean returnsNothing = isCall && file.memberAt(code, at).descriptor().endsWith(")V");
            if (endsStatement(at, opcode) || returnsNothing) {
                variables.clear();
                field = null;
                isFirst = true;
            }
        }
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
