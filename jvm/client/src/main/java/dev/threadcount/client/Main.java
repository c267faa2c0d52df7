package dev.threadcount.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Locale;

/** The command line: {@code java -jar client.jar COUNT [DELAY [URL]]}. */
public final class Main {
    private static final String USAGE = """
            java -jar client.jar COUNT [DELAY [URL]]

            Sends COUNT requests at once, each on a virtual thread of its own, prints each answer as it comes, and then
            how long all of them took.

              COUNT   how many requests
              DELAY   how long each thread sleeps after its answer, in milliseconds; 0 if left out
              URL     what is asked; http://localhost:8080/thread-info?sleep=1s if left out

            Exit code: 0 all were answered with 200, 1 some were not, 2 bad usage.
            """;

    private static final String URL = "http://localhost:8080/thread-info?sleep=1s";

    private Main() {}

    /**
     * Runs the client.
     *
     * @param arguments COUNT, DELAY, URL
     */
    public static void main(String[] arguments) throws InterruptedException {
        Client client;
        int count;
        try {
            count = number(arguments, 0, "COUNT", 1, null);
            Duration delay = Duration.ofMillis(number(arguments, 1, "DELAY", 0, 0));
            client = new Client(url(arguments.length > 2 ? arguments[2] : URL), delay);
            if (arguments.length > 3) {
                throw new IllegalArgumentException("too many words");
            }
        } catch (IllegalArgumentException wrong) {
            System.err.println(wrong.getMessage() + "\n\n" + USAGE);
            System.exit(2);
            return;
        }
        Client.Outcome outcome = client.send(count, System.out::println);
        outcome.failures().forEach((why, times) -> System.err.println(times + " failed: " + why));
        System.err.println(String.format(
                Locale.ROOT, "%d answers, %d failures, all after %.2f s", outcome.answers(), outcome.failed(),
                outcome.elapsed().toNanos() / 1e9));
        System.exit(outcome.failed() == 0 ? 0 : 1);
    }

    static URI url(String written) {
        try {
            URI url = new URI(written);
            if (("http".equals(url.getScheme()) || "https".equals(url.getScheme())) && url.getHost() != null) {
                return url;
            }
        } catch (URISyntaxException notEvenThat) {
            // The error below covers this too.
        }
        throw new IllegalArgumentException("URL must be like " + URL + ", and `" + written + "` is not");
    }

    static int number(String[] arguments, int place, String name, int least, Integer otherwise) {
        if (arguments.length <= place) {
            if (otherwise != null) {
                return otherwise;
            }
            throw new IllegalArgumentException(name + " is missing");
        }
        String written = arguments[place];
        try {
            int number = Integer.parseInt(written);
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // The error below covers this too.
        }
        throw new IllegalArgumentException(name + " must be a whole number from " + least + ", and `" + written
                + "` is not");
    }
}
