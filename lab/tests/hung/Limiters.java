import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits that are begun again and again, and waits of long polls. */
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

    /** A long poll that looks once a second whether its client is there. */
    private static void poll(LinkedBlockingQueue<String> news) throws InterruptedException {
        for (int second = 0; second < 60; second++) {
            if (news.poll(1, TimeUnit.SECONDS) != null) {
                return;
            }
        }
    }

    /** Grants nothing. */
    static final class SleepingLimiter {
        void acquire() throws InterruptedException {
            while (!isGranted()) {
                Thread.sleep(20);
            }
        }
    }

    /** Grants one a day. */
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
