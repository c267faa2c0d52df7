package dev.threadcount.probe;

import dev.threadcount.probe.stacks.Code;
import dev.threadcount.probe.stacks.JvmAccess;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Finds requests for which an executor has a task that it runs once, later, as an application of long polls schedules it. Such a task leads
 * to the objects that the server keeps for one request. Time limits of the server are left out, and objects to which many tasks lead.
 */
final class DelayedTasks {
    private static final int MOST_TASKS = 2_000;
    private static final int MOST_OBJECTS = 50_000;
    private static final int MOST_WRAPPERS = 6;
    /** The largest number of tasks that one request has. */
    private static final int MOST_OF_REQUEST = 2;
    /** A part of the names of the classes of which servers and web frameworks make an object per request. */
    private static final Pattern OF_REQUEST = Pattern.compile("Request|Response|Exchange|AsyncContext|DeferredResult|RoutingContext|ServerCall");
    /** The fields of the JDK's tasks with the task that they wrap. */
    private static final String[] WRAPPED = {"callable", "task", "action", "fn"};

    private final JvmAccess jvm;
    private final TaskReach reach;

    /**
     * The requests of one executor.
     *
     * @param lastDueMs the milliseconds until the last of their tasks is due; 0 for none
     */
    record Requests(int count, long lastDueMs) {
        static final Requests NONE = new Requests(0, 0);
    }

    private record Task(long dueMs, Collection<Object> ofRequest) {}

    DelayedTasks(JvmAccess jvm) {
        this.jvm = jvm;
        reach = new TaskReach(jvm, MOST_OBJECTS);
    }

    Requests of(ScheduledThreadPoolExecutor executor) {
        if (executor.getQueue().size() > MOST_TASKS) {
            return Requests.NONE;
        }
        List<Task> tasks = new ArrayList<>();
        Map<Object, Integer> uses = new IdentityHashMap<>();
        for (Object queued : executor.getQueue().toArray()) {
            if (isToRunOnce(queued)) {
                Task task = new Task(((RunnableScheduledFuture<?>) queued).getDelay(TimeUnit.MILLISECONDS), requestObjects(queued));
                task.ofRequest().forEach(object -> uses.merge(object, 1, Integer::sum));
                tasks.add(task);
            }
        }
        // The answer to a request and the application's time limit for it count as one request.
        Map<Object, Integer> requestOf = new IdentityHashMap<>();
        int requests = 0;
        long lastDueMs = 0;
        for (Task task : tasks) {
            List<Object> own = task.ofRequest().stream().filter(object -> uses.get(object) <= MOST_OF_REQUEST).toList();
            if (own.isEmpty()) {
                continue;
            }
            Integer known = own.stream().map(requestOf::get).filter(Objects::nonNull).findFirst().orElse(null);
            int request = known == null ? requests++ : known;
            own.forEach(object -> requestOf.put(object, request));
            lastDueMs = Math.max(lastDueMs, task.dueMs());
        }
        return new Requests(requests, lastDueMs);
    }

    private static boolean isToRunOnce(Object queued) {
        return queued instanceof RunnableScheduledFuture<?> task && task.getClass().getEnclosingClass() == ScheduledThreadPoolExecutor.class
                && !task.isPeriodic() && !task.isDone() && task.getDelay(TimeUnit.MILLISECONDS) > 0;
    }

    private Collection<Object> requestObjects(Object task) {
        Object innermost = task;
        for (int i = 0; i < MOST_WRAPPERS; i++) {
            if (Code.isServers(innermost.getClass().getName())) {
                return List.of();
            }
            Object inner = wrapped(innermost);
            if (inner == null) {
                break;
            }
            innermost = inner;
        }
        Set<Object> found = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Object object : reach.of(innermost)) {
            addOfRequest(object, found);
            if (object instanceof CompletableFuture<?> result) {
                dependents(result).forEach(function -> reach.of(function).forEach(it -> addOfRequest(it, found)));
            }
        }
        return found;
    }

    private static void addOfRequest(Object object, Collection<Object> found) {
        Class<?> type = object.getClass();
        if (Code.isServers(type.getName()) && OF_REQUEST.matcher(type.getSimpleName()).find()) {
            found.add(object);
        }
    }

    /** The functions that are called with a result. */
    private List<Object> dependents(CompletableFuture<?> result) {
        List<Object> functions = new ArrayList<>();
        for (Object waiter = jvm.fieldOf(result, "stack"); waiter != null; waiter = jvm.fieldOf(waiter, "next")) {
            Object function = jvm.fieldOf(waiter, "fn");
            if (function != null) {
                functions.add(function);
            }
        }
        return functions;
    }

    private Object wrapped(Object task) {
        for (String name : WRAPPED) {
            Object inner = jvm.fieldOf(task, name);
            if (inner != null) {
                return inner;
            }
        }
        return null;
    }
}
