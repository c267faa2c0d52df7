package dev.threadcount.avatar;

import java.util.Locale;

/** The command line. */
record Options(ThreadModel threads, int port) {
    private static final String USAGE = "write --threads=single|cached|virtual and --port=N, 0 to 65535";

    static Options parse(String... args) {
        var options = new Options(ThreadModel.SINGLE, 8080);
        for (String arg : args) {
            options = options.with(arg);
        }
        return options;
    }

    private Options with(String arg) {
        String[] words = arg.split("=", 2);
        String value = words.length == 2 ? words[1] : "";
        return switch (words[0]) {
            case "--threads" -> new Options(model(arg, value), port);
            case "--port" -> new Options(threads, port(arg, value));
            default -> throw new IllegalArgumentException("unknown option " + arg + ": " + USAGE);
        };
    }

    private static ThreadModel model(String arg, String name) {
        for (ThreadModel model : ThreadModel.values()) {
            if (model.name().toLowerCase(Locale.ROOT).equals(name)) {
                return model;
            }
        }
        throw new IllegalArgumentException("no thread model " + arg + ": " + USAGE);
    }

    private static int port(String arg, String number) {
        try {
            int port = Integer.parseInt(number);
            if (port >= 0 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException notANumber) {
            // The error below covers this too.
        }
        throw new IllegalArgumentException("no port " + arg + ": " + USAGE);
    }
}
