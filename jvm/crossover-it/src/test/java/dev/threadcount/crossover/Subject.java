package dev.threadcount.crossover;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/** A server in a process of its own, which the test asks about itself by lines. */
interface Subject {
    int port();

    /** As the program that embeds the server would. */
    void stop() throws Exception;

    /** What the server calls to have a request run. */
    Object executor() throws ReflectiveOperationException;

    /** Requests to {@code /hold} wait for this. */
    CountDownLatch RELEASED = new CountDownLatch(1);

    /** What a request does, and the body of its response: the thread it runs on. */
    static String handle(String path) {
        try {
            if (path.startsWith("/hold")) {
                RELEASED.await();
            } else {
                Thread.sleep(3);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        Thread thread = Thread.currentThread();
        return (thread.isVirtual() ? "virtual " : "platform ") + thread.getName();
    }

    /** Answers the test until it closes its end. */
    static void serve(Subject subject) throws IOException {
        System.out.println("port " + subject.port());
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            System.out.println(reply(subject, command));
        }
        // Threads of a server that was not stopped.
        Runtime.getRuntime().halt(0);
    }

    private static String reply(Subject subject, String command) {
        try {
            return switch (command) {
                case "stop" -> {
                    subject.stop();
                    yield "stopped";
                }
                case "release" -> {
                    RELEASED.countDown();
                    yield "released";
                }
                case "executor" -> {
                    Object executor = subject.executor();
                    yield executor.getClass().getName() + "@" + System.identityHashCode(executor);
                }
                case "threads" -> names().stream().sorted().collect(Collectors.joining(","));
                default -> "unknown";
            };
        } catch (Exception failed) {
            return "failed " + failed;
        }
    }

    private static Set<String> names() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).collect(Collectors.toSet());
    }
}
