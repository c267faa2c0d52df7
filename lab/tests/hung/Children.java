import java.io.IOException;

/** Requests that wait for a child process, which ends with its parent. */
final class Children {
    private static final String COMPUTES = "while kill -0 $PPID; do :; done";
    private static final String RESTS = "read line";

    private Children() {}

    static Service.Work work(String mode) throws IOException {
        return switch (mode) {
            case "busy-child" -> new OneChild(COMPUTES, Integer.MAX_VALUE);
            case "busy-child-of-some" -> new OneChild(COMPUTES, 8);
            case "resting-child" -> new OneChild(RESTS, Integer.MAX_VALUE);
            case "busy-child-output" -> number -> read(begin(COMPUTES));
            default -> throw new IllegalArgumentException(mode);
        };
    }

    private static Process begin(String command) throws IOException {
        return new ProcessBuilder("sh", "-c", command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    private static void read(Process converter) throws IOException {
        Service.DONE.addAndGet(converter.getInputStream().readAllBytes().length);
    }

    /** The first requests wait for the end of the child process. */
    static final class OneChild implements Service.Work {
        private final Process converter;
        private final int waiting;

        OneChild(String command, int waiting) throws IOException {
            this.waiting = waiting;
            converter = begin(command);
        }

        @Override
        public void run(int number) throws Exception {
            if (number <= waiting) {
                convert();
            }
        }

        private void convert() throws InterruptedException {
            converter.waitFor();
        }
    }
}
