//! Where a thread waits for something outside of the JVM, or for work.

use crate::diagnose::evidence::Thread;

pub(super) const ASLEEP: &str = "sleeping";
pub(super) const READS: &str = "reading from a socket";
pub(super) const WRITES: &str = "writing to a socket";
const RESPONSE: &str = "waiting for an HTTP response";
const LOOKS_UP: &str = "looking up the address of a host";

/// Where a thread waits for another machine or for time. The first that is on the stack counts.
const OUTSIDE: [(&str, &str); 16] = [
    // Its own threads read and write.
    ("jdk.internal.net.http.HttpClientImpl.send", RESPONSE),
    ("org.springframework.http.client.JdkClientHttpRequest.executeInternal", RESPONSE),
    ("org.eclipse.jetty.client.HttpRequest.send", RESPONSE),
    ("org.eclipse.jetty.client.transport.HttpRequest.send", RESPONSE),
    ("java.net.InetAddress.getAllByName", LOOKS_UP),
    ("NioSocketImpl.connect", "connecting a socket"),
    ("NioSocketImpl.write", WRITES),
    ("SocketChannelImpl.write", WRITES),
    ("SocketDispatcher.write0", WRITES),
    ("NioSocketImpl.read", READS),
    ("NioSocketImpl.implRead", READS),
    ("NioSocketImpl.park", READS),
    ("SocketChannelImpl.read", READS),
    ("SocketDispatcher.read0", READS),
    ("Thread.sleep", ASLEEP),
    ("FileDispatcherImpl.read0", "reading a file"),
];

/// An idle thread has nothing.
const FOR_WORK: [&str; 19] = [
    "ArrayBlockingQueue.poll",
    "ArrayBlockingQueue.take",
    "DelayQueue.poll",
    "DelayQueue.take",
    "LinkedBlockingDeque.pollFirst",
    "LinkedBlockingDeque.takeFirst",
    "LinkedBlockingQueue.poll",
    "LinkedBlockingQueue.take",
    "LinkedTransferQueue.poll",
    "LinkedTransferQueue.take",
    "NioSocketImpl.accept",
    "PriorityBlockingQueue.poll",
    "PriorityBlockingQueue.take",
    "ScheduledThreadPoolExecutor$DelayedWorkQueue.take",
    "SelectorImpl.select",
    "ServerSocketChannelImpl.accept",
    "SynchronousQueue.poll",
    "SynchronousQueue.take",
    "ThreadPoolExecutor.getTask",
];

pub(super) fn waits_in(thread: &Thread) -> Option<&'static str> {
    OUTSIDE.iter().find(|(method, _)| thread.is_in(&[method])).map(|(_, what)| *what)
}

pub(super) fn waits_for_work(thread: &Thread) -> bool {
    thread.is_in(&FOR_WORK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::frame::Frame;

    fn of(frames: &[&str]) -> Option<&'static str> {
        waits_in(&Thread { frames: frames.iter().map(|it| Frame::parse(it)).collect(), ..Thread::default() })
    }

    #[test]
    fn a_client_of_http_waits_for_a_response_and_a_result_of_our_own_is_none() {
        const GET: &str = "java.base/java.util.concurrent.CompletableFuture.get(CompletableFuture.java:2117)";
        const APPLICATION: &str = "shop.Quote.price(Quote.java:8)";
        let send = "java.net.http/jdk.internal.net.http.HttpClientImpl.send(HttpClientImpl.java:858)";
        assert_eq!(of(&[GET, send, APPLICATION]), Some(RESPONSE));
        let spring = "org.springframework.http.client.JdkClientHttpRequest.executeInternal(JdkClientHttpRequest.java:1)";
        assert_eq!(of(&[GET, spring, APPLICATION]), Some(RESPONSE));
        assert_eq!(of(&[GET, APPLICATION]), None);
    }

    #[test]
    fn who_parks_to_write_does_not_read() {
        let park = "java.base/sun.nio.ch.NioSocketImpl.park(NioSocketImpl.java:1)";
        let frame =
            |method: &str| format!("java.base/sun.nio.ch.NioSocketImpl.{method}(NioSocketImpl.java:2)");
        assert_eq!(of(&[park, &frame("write")]), Some(WRITES));
        assert_eq!(of(&[park, &frame("read")]), Some(READS));
    }
}
