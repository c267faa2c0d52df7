package dev.threadcount.crossover;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/** A server in a separate process. The test asks it about itself in lines. */
interface Subject {
    int port();

    /** Stops the server as the program that embeds it would. */
    void stop() throws Exception;

    /** The object that the server calls to run a request. */
    Object executor() throws ReflectiveOperationException;

    /** Requests to {@code /hold} wait for this. */
    CountDownLatch RELEASED = new CountDownLatch(1);

    /** Handles a request and returns the body of its response: the thread on which it runs. */
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

    /** Answers the test until the test closes its end. */
    static void serve(Subject subject) throws IOException {
        System.out.println("port " + subject.port());
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            System.out.println(reply(subject, command));
        }
        // A server that was not stopped still has threads.
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
