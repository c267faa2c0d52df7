package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;

/** A server that calls the executor that it currently has. */
final class FakeServer implements SwitchableServer {
    private final Executor own;
    final AtomicReference<Executor> executor = new AtomicReference<>();

    FakeServer(Executor own) {
        this.own = own;
        executor.set(own);
    }

    @Override
    public Identity identity() {
        return new Identity(8080, "Fake 1", own);
    }

    @Override
    public ClassLoader context() {
        return getClass().getClassLoader();
    }

    @Override
    public void install(RequestExecutor requests) {
        executor.set(requests);
    }

    @Override
    public void uninstall() {
        executor.set(own);
    }

    @Override
    public String whyOver() {
        return executor.get() == own ? "stopped" : null;
    }

    @Override
    public JsonLine describe(JsonLine line) {
        return line;
    }
}
