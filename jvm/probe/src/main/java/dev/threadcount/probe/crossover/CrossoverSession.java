package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;

/**
 * The session of a tool, in which a server of this JVM switches the threads of its requests on command. However the
 * session ends, the server gets its own executor back first.
 *
 * <p>A command is a line of text, and its reply is one line of JSON: {@code targets}, {@code switch TREATMENT [PORT]},
 * {@code restore} and {@code status}. Each command is also a sign of life.
 */
public final class CrossoverSession implements Runnable {
    private static final long WASHOUT_SECONDS = 30;

    private final CommandChannel channel;
    private final SessionClaim claim;
    private final Instrumentation instrumentation;
    private final Runnable forget;
    private final Crossover crossover = new Crossover();
    private final Watchdog watchdog = new Watchdog(() -> crossover.server() != null, crossover::whyOver, this::end);
    private final AtomicBoolean ended = new AtomicBoolean();
    private Thread watching;

    private CrossoverSession(CommandChannel channel, SessionClaim claim, Instrumentation instrumentation, Runnable forget) {
        this.channel = channel;
        this.claim = claim;
        this.instrumentation = instrumentation;
        this.forget = forget;
    }

    /**
     * Begins a session. If another one is running, the tool gets the reason instead of the first line.
     *
     * @param socket the listening Unix socket of the tool
     * @param hello the first line
     * @param starter starts a thread with this name
     * @param forget called when none of our classes is needed any more
     * @throws IOException when there is no connection
     */
    public static void start(Path socket, Instrumentation instrumentation, JsonLine hello,
            BiFunction<String, Runnable, Thread> starter, Runnable forget) throws IOException {
        CommandChannel channel = CommandChannel.connect(socket);
        SessionClaim claim = null;
        try {
            claim = SessionClaim.take();
            channel.write(hello.put("heartbeat_limit_ms", Watchdog.LIMIT_MS));
            CrossoverSession session = new CrossoverSession(channel, claim, instrumentation, forget);
            session.watching = starter.apply("-watchdog", session.watchdog);
            starter.apply("-crossover", session);
        } catch (IllegalStateException other) {
            channel.write(JsonLine.of("refused", System.nanoTime()).put("why", other.getMessage()));
            channel.close();
            forget.run();
        } catch (IOException | RuntimeException | Error failed) {
            if (claim != null) {
                claim.release();
            }
            channel.close();
            throw failed;
        }
    }

    @Override
    public void run() {
        String why = "The connection was closed.";
        try {
            for (String command = channel.read(); command != null; command = channel.read()) {
                watchdog.commandBegins();
                channel.write(reply(command));
                watchdog.commandEnds();
            }
        } catch (IOException | RuntimeException | Error failed) {
            why = "The session failed: " + failed + ".";
        } finally {
            end(why);
            watchdog.stop(watching);
            awaitWashout();
        }
    }

    private JsonLine reply(String command) {
        String[] words = command.split(" ");
        try {
            return switch (words[0]) {
                case "targets" -> ServerSearch.run(instrumentation).describe();
                case "status" -> crossover.counts("status");
                case "restore" -> crossover.restore();
                case "switch" -> switchTo(words);
                default -> throw new IllegalArgumentException("unknown command '" + words[0]
                        + "': targets, switch, restore and status exist");
            };
        } catch (IllegalArgumentException | IllegalStateException | OutOfMemoryError refused) {
            return JsonLine.of("error", System.nanoTime()).put("why", refused.getMessage());
        }
    }

    private JsonLine switchTo(String[] words) {
        if (words.length < 2 || words.length > 3 || words.length == 3 && !words[2].matches("\\d{1,5}")) {
            throw new IllegalArgumentException("write switch TREATMENT [PORT]");
        }
        Treatment treatment = Treatment.parse(words[1]);
        int port = words.length == 3 ? Integer.parseInt(words[2]) : 0;
        SwitchableServer current = crossover.server();
        boolean isSame = current != null && (port == 0 || port == current.port());
        return crossover.switchTo(treatment, isSame ? current : ServerSearch.run(instrumentation).server(port));
    }

    /** Ends the session once, on any thread. The server is restored first, then the tool is told, if it is still there. */
    private void end(String why) {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        try {
            crossover.end();
        } finally {
            claim.release();
            try (channel) {
                channel.write(crossover.counts("ended").put("why", why));
            } catch (IOException gone) {
                // The tool has closed its end.
            }
        }
    }

    /**
     * Waits for requests that still run, because they use our classes to count themselves. If one lasts longer, the
     * garbage collector closes the file.
     */
    private void awaitWashout() {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(WASHOUT_SECONDS);
        try {
            while (!crossover.isWashedOut() && System.nanoTime() < until) {
                TimeUnit.MILLISECONDS.sleep(50);
            }
        } catch (InterruptedException stopped) {
            return;
        }
        if (crossover.isWashedOut()) {
            forget.run();
        }
    }
}
