package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Switches one server between treatments, and restores it. Any thread may restore it. */
final class Crossover {
    /** Null while the server has its own executor. */
    private SwitchableServer server;
    private RequestExecutor requests;
    private final Map<Treatment, RequestThreads> threads = new LinkedHashMap<>();
    private final Map<Treatment, PeriodCounts> finished = new LinkedHashMap<>();
    /** The periods whose tasks may still run, and the last one. The last but one is kept until the next switch. */
    private final List<Period> periods = new ArrayList<>();
    private int lastNumber;
    private boolean ended;

    /** Switches to a treatment. Its threads stay until {@link #restore}, because starting them again would be part of each period. */
    synchronized JsonLine switchTo(Treatment treatment, SwitchableServer asked) {
        if (ended) {
            throw new IllegalStateException("The crossover has ended.");
        }
        if (server != null && server.port() != asked.port()) {
            throw new IllegalStateException("Port " + server.port() + " has a treatment; restore it first.");
        }
        boolean isFirst = server == null;
        RequestExecutor executor = isFirst ? new RequestExecutor(asked.own()) : requests;
        String over = isFirst ? null : server.whyOver();
        if (over != null) {
            throw new IllegalStateException(over);
        }
        if (executor.failure() != null) {
            throw new IllegalStateException(failureText(executor.failure()));
        }
        Period period = new Period(++lastNumber, treatment, treatment.isOwn() ? null
                : threads.computeIfAbsent(treatment, key -> RequestThreads.of(key, asked.context(), executor)));
        if (isFirst) {
            install(asked, executor);
        }
        return begin(period);
    }

    private void install(SwitchableServer asked, RequestExecutor executor) {
        try {
            asked.install(executor);
        } catch (RuntimeException | Error refused) {
            closeThreads();
            throw refused;
        }
        server = asked;
        requests = executor;
    }

    private JsonLine begin(Period period) {
        long before = System.nanoTime();
        requests.use(period);
        long after = System.nanoTime();
        if (!periods.isEmpty()) {
            periods.getLast().end(after);
        }
        period.begin(after);
        periods.add(period);
        return counts(JsonLine.of("switched", after).put("before_ns", before).put("port", server.port()));
    }

    /** A line of this type, with the server's threads and the counts. */
    synchronized JsonLine counts(String type) {
        return counts(JsonLine.of(type, System.nanoTime()));
    }

    private JsonLine counts(JsonLine line) {
        forgetWashedOut();
        Period current = server == null || periods.isEmpty() ? null : periods.getLast();
        int last = periods.size() - (current == null ? 1 : 2);
        if (current != null) {
            line.put("current", current.describe());
        }
        if (last >= 0) {
            line.put("previous", periods.get(last).describe());
        }
        line.put("earlier_tasks", periods.subList(0, last + 1).stream().mapToLong(it -> it.counts().remaining()).sum());
        Map<Treatment, PeriodCounts> totals = new LinkedHashMap<>(finished);
        periods.forEach(period -> totals.merge(period.treatment(), period.counts(), PeriodCounts::plus));
        List<JsonLine> treatments = new ArrayList<>();
        totals.forEach((treatment, sum) -> treatments.add(sum.put(JsonLine.nested().put("treatment", treatment.toString()))));
        return line.put("treatments", treatments);
    }

    private void forgetWashedOut() {
        Iterator<Period> earlier = new ArrayList<>(periods.subList(0, Math.max(0, periods.size() - 2))).iterator();
        while (earlier.hasNext()) {
            Period period = earlier.next();
            if (period.isWashedOut()) {
                finished.merge(period.treatment(), period.counts(), PeriodCounts::plus);
                periods.remove(period);
            }
        }
    }

    /** Gives the server its own executor again. A second call does nothing. */
    synchronized JsonLine restore() {
        if (server != null) {
            restoreServer();
        }
        return counts("restored");
    }

    private void restoreServer() {
        try {
            server.uninstall();
        } finally {
            // This also holds if the server could not be reached: new tasks go to its own executor.
            requests.use(null);
            long now = System.nanoTime();
            periods.getLast().end(now);
            closeThreads();
            server = null;
            requests = null;
        }
    }

    private void closeThreads() {
        threads.values().forEach(RequestThreads::close);
        threads.clear();
    }

    /** Restores the server for good. */
    synchronized void end() {
        ended = true;
        if (server != null) {
            restoreServer();
        }
    }

    /** Why the crossover has to end, as a sentence, or null. */
    synchronized String whyOver() {
        if (server == null) {
            return null;
        }
        return requests.failure() == null ? server.whyOver() : failureText(requests.failure());
    }

    private static String failureText(Throwable failure) {
        return "The threads of the treatment did not take a request: " + failure
                + ". It ran on the server's own executor, and so do all that follow.";
    }

    /** The server with a treatment, or null. */
    synchronized SwitchableServer server() {
        return server;
    }

    synchronized boolean isWashedOut() {
        return periods.stream().allMatch(Period::isWashedOut);
    }
}
