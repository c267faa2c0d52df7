package dev.threadcount.probe;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Assigns platform threads to pools with names. Threads of one executor form a pool, whatever their names, and threads of two executors do
 * not. Threads without an executor are grouped by name, with a star in place of the number that differs.
 */
final class ThreadPoolNames {
    private static final Pattern NUMBER = Pattern.compile("[0-9]+");
    private static final int MOST_NAMES = 1_000;
    /** Stands for an executor, for threads without one and for threads that each have their own. */
    private static final Object BY_NAME = new Object();

    /** The executors that share a name. The first one has the plain name, and the second one gets a 2. */
    private final Map<String, Map<Object, Integer>> owners = new BoundedMap<>(MOST_NAMES);

    /**
     * The threads by the name of their pool.
     *
     * @param executorOf returns null for a thread without an executor
     */
    Map<String, List<Thread>> of(Collection<Thread> threads, Function<Thread, Object> executorOf) {
        Map<Object, List<Thread>> byExecutor = new IdentityHashMap<>();
        List<Thread> others = new ArrayList<>();
        for (Thread thread : threads) {
            Object executor = executorOf.apply(thread);
            (executor == null ? others : byExecutor.computeIfAbsent(executor, any -> new ArrayList<>())).add(thread);
        }
        Map<String, List<Thread>> families = new TreeMap<>();
        List<Thread> single = new ArrayList<>();
        List<Object> inOrder = new ArrayList<>(byExecutor.keySet());
        inOrder.sort(Comparator.comparingLong(executor -> byExecutor.get(executor).stream().mapToLong(Thread::threadId).min().orElse(0)));
        for (Object executor : inOrder) {
            List<Thread> members = byExecutor.get(executor);
            if (members.size() > 1 || hasRoom(executor)) {
                families.put(numbered(pattern(members), executor), members);
            } else {
                single.addAll(members);
            }
        }
        byName(single).forEach((name, members) -> families.computeIfAbsent(numbered(name, BY_NAME), any -> new ArrayList<>()).addAll(members));
        ofNoExecutor(others)
                .forEach((name, members) -> families.computeIfAbsent(numbered(name, BY_NAME), any -> new ArrayList<>()).addAll(members));
        return families;
    }

    private static boolean hasRoom(Object executor) {
        WorkerPool pool = WorkerPool.of(executor);
        return pool != null && pool.size() > 1;
    }

    private String numbered(String name, Object owner) {
        Map<Object, Integer> known = owners.computeIfAbsent(name, any -> new WeakHashMap<>());
        int number = known.computeIfAbsent(owner, any -> known.values().stream().mapToInt(it -> it).max().orElse(0) + 1);
        return number == 1 ? name : name + " (" + number + ")";
    }

    private static Map<String, List<Thread>> byName(Collection<Thread> threads) {
        Map<String, List<Thread>> found = new TreeMap<>();
        threads.forEach(thread -> found.computeIfAbsent(VoluntarySwitches.withoutNumber(thread.getName()), any -> new ArrayList<>()).add(thread));
        return found;
    }

    /** If no two threads differ only in the last number, another number distinguishes the threads. */
    private static Map<String, List<Thread>> ofNoExecutor(Collection<Thread> threads) {
        Map<String, List<Thread>> alike = new TreeMap<>();
        threads.forEach(thread -> alike.computeIfAbsent(NUMBER.matcher(thread.getName()).replaceAll("*"), any -> new ArrayList<>()).add(thread));
        Map<String, List<Thread>> found = new TreeMap<>();
        for (List<Thread> members : alike.values()) {
            Map<String, List<Thread>> byLast = byName(members);
            boolean areSingle = byLast.size() > 1 && byLast.size() == members.size();
            if (areSingle && !areOfPools(members)) {
                found.computeIfAbsent(pattern(members), any -> new ArrayList<>()).addAll(members);
            } else {
                byLast.forEach((name, all) -> found.computeIfAbsent(name, any -> new ArrayList<>()).addAll(all));
            }
        }
        return found;
    }

    /** Whether these are several pools with one thread each so far: the last number is the same for all, and does not count them. */
    private static boolean areOfPools(List<Thread> members) {
        List<String> last = members.stream().map(thread -> numbers(thread.getName()).getLast()).distinct().toList();
        return last.size() == 1 && (last.getFirst().length() > 9 || Integer.parseInt(last.getFirst()) < members.size());
    }

    private static List<String> numbers(String name) {
        return NUMBER.matcher(name).results().map(it -> it.group()).toList();
    }

    /** The common part of the names, with a star in place of the different part. */
    private static String pattern(List<Thread> members) {
        String first = members.getFirst().getName();
        List<String> texts = members.stream().map(thread -> NUMBER.matcher(thread.getName()).replaceAll("*")).distinct().toList();
        if (texts.size() > 1) {
            String common = first;
            for (Thread member : members) {
                int at = 0;
                while (at < Math.min(common.length(), member.getName().length()) && common.charAt(at) == member.getName().charAt(at)) {
                    at++;
                }
                common = common.substring(0, at);
            }
            common = common.replaceAll("[0-9]+$", "");
            return common.isEmpty() ? VoluntarySwitches.withoutNumber(first) : common + "*";
        }
        List<List<String>> numbers = members.stream().map(thread -> numbers(thread.getName())).toList();
        Matcher matcher = NUMBER.matcher(first);
        StringBuilder name = new StringBuilder();
        boolean differs = false;
        for (int at = 0; matcher.find(); at++) {
            int number = at;
            boolean isSame = numbers.stream().map(it -> it.get(number)).distinct().count() == 1;
            differs |= !isSame;
            matcher.appendReplacement(name, isSame ? matcher.group() : "*");
        }
        matcher.appendTail(name);
        return differs ? name.toString() : VoluntarySwitches.withoutNumber(first);
    }
}
