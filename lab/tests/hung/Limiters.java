import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits that begin again and again, and waits of long polls. */
final class Limiters {
    private Limiters() {}

    static Service.Work work(String mode) throws IOException {
        return switch (mode) {
            case "limiter-sleep" -> number -> new SleepingLimiter().acquire();
            case "limiter-park" -> number -> new ParkingLimiter().acquire();
            case "limiter-wait" -> waiting(new WaitingLimiter());
            case "limiter-for-a-day" -> number -> new PatientLimiter().acquire();
            case "long-poll-steps" -> number -> poll(new LinkedBlockingQueue<>());
            default -> Children.work(mode);
        };
    }

    private static Service.Work waiting(WaitingLimiter limiter) {
        return number -> limiter.acquire();
    }

    /** A long poll that checks once a second whether its client is still there. */
    private static void poll(LinkedBlockingQueue<String> news) throws InterruptedException {
        for (int second = 0; second < 60; second++) {
            if (news.poll(1, TimeUnit.SECONDS) != null) {
                return;
            }
        }
    }

    /** A limiter that sleeps and grants nothing. */
    static final class SleepingLimiter {
        void acquire() throws InterruptedException {
            while (!isGranted()) {
                Thread.sleep(20);
            }
        }
    }

    /** A limiter that grants one permit a day. */
    static final class PatientLimiter {
        void acquire() throws InterruptedException {
            TimeUnit.DAYS.sleep(1);
        }
    }

    static final class ParkingLimiter {
        void acquire() {
            while (!isGranted()) {
                LockSupport.parkNanos(20_000_000);
            }
        }
    }

    static final class WaitingLimiter {
        synchronized void acquire() throws InterruptedException {
            while (!isGranted()) {
                wait(20);
            }
        }
    }

    private static boolean isGranted() {
        return Service.DONE.get() < 0;
    }
}
