//! Recognises threads that wait for something outside the JVM, or for work.

use crate::evidence::Thread;

pub(super) const ASLEEP: &str = "sleeping";
pub(super) const READS: &str = "reading from a socket";
pub(super) const WRITES: &str = crate::verdict::WRITES_SOCKET;
/// The console and the output of a child process are read with the same methods as a file.
pub(super) const READS_STREAM: &str = "reading a file or a pipe";
const READS_FILE: &str = "reading a file";
pub(super) const WRITES_FILE: &str = "writing to a file";
pub(super) const WRITES_STREAM: &str = crate::verdict::WRITES_STREAM;
const CONNECTS: &str = "connecting a socket";
const RESPONSE: &str = "waiting for an HTTP response";
pub(super) const CHILD: &str = crate::verdict::FOR_CHILD_PROCESS;
pub(super) const LOCKS_FILE: &str = crate::verdict::FOR_FILE_LOCK;
const LOOKS_UP: &str = "looking up the address of a host";

/// Methods in which a thread waits outside the JVM or for time, with the words for it. The first in this list that is on the stack counts.
const OUTSIDE: [(&str, &str); 39] = [
    ("java.lang.ProcessImpl.waitFor", CHILD),
    // In these clients, other threads read and write.
    ("jdk.internal.net.http.HttpClientImpl.send", RESPONSE),
    ("org.springframework.http.client.JdkClientHttpRequest.executeInternal", RESPONSE),
    ("org.eclipse.jetty.client.HttpRequest.send", RESPONSE),
    ("org.eclipse.jetty.client.transport.HttpRequest.send", RESPONSE),
    ("java.net.InetAddress.getAllByName", LOOKS_UP),
    ("NioSocketImpl.connect", CONNECTS),
    ("SocketChannelImpl.connect", CONNECTS),
    ("SocketChannelImpl.blockingConnect", CONNECTS),
    ("NioSocketImpl.write", WRITES),
    ("SocketChannelImpl.write", WRITES),
    ("SocketChannelImpl.blockingWriteFully", WRITES),
    ("SocketDispatcher.write0", WRITES),
    ("NioSocketImpl.read", READS),
    ("NioSocketImpl.implRead", READS),
    ("NioSocketImpl.park", READS),
    ("SocketChannelImpl.read", READS),
    ("SocketChannelImpl.blockingRead", READS),
    ("SocketDispatcher.read0", READS),
    ("Thread.sleep", ASLEEP),
    ("UnixFileDispatcherImpl.lock0", LOCKS_FILE),
    ("UnixFileDispatcherImpl.read0", READS_FILE),
    ("UnixFileDispatcherImpl.readv0", READS_FILE),
    ("UnixFileDispatcherImpl.pread0", READS_FILE),
    ("UnixFileDispatcherImpl.write0", WRITES_FILE),
    ("UnixFileDispatcherImpl.writev0", WRITES_FILE),
    ("UnixFileDispatcherImpl.pwrite0", WRITES_FILE),
    ("UnixFileDispatcherImpl.force0", WRITES_FILE),
    ("java.io.FileDescriptor.sync0", WRITES_FILE),
    ("java.io.RandomAccessFile.read0", READS_FILE),
    ("java.io.RandomAccessFile.readBytes", READS_FILE),
    ("java.io.RandomAccessFile.readBytes0", READS_FILE),
    ("java.io.RandomAccessFile.write0", WRITES_FILE),
    ("java.io.RandomAccessFile.writeBytes", WRITES_FILE),
    ("java.io.RandomAccessFile.writeBytes0", WRITES_FILE),
    ("java.io.FileInputStream.read0", READS_STREAM),
    ("java.io.FileInputStream.readBytes", READS_STREAM),
    ("java.io.FileOutputStream.write", WRITES_STREAM),
    ("java.io.FileOutputStream.writeBytes", WRITES_STREAM),
];

/// Methods in which an idle thread waits for work.
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
    use crate::frame::Frame;

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

    #[test]
    fn files_are_read_and_written_by_channels_and_streams_and_what_only_has_a_file_is_none() {
        let of_top =
            |top: &str| of(&[&format!("java.base/{top}(Native Method)"), "shop.Report.write(Report.java:8)"]);
        assert_eq!(of_top("sun.nio.ch.UnixFileDispatcherImpl.read0"), Some(READS_FILE));
        assert_eq!(of_top("sun.nio.ch.UnixFileDispatcherImpl.force0"), Some(WRITES_FILE));
        assert_eq!(of_top("sun.nio.ch.UnixFileDispatcherImpl.lock0"), Some(LOCKS_FILE));
        assert_eq!(of_top("sun.nio.ch.UnixFileDispatcherImpl.release0"), None);
        assert_eq!(of_top("java.io.RandomAccessFile.readBytes0"), Some(READS_FILE));
        assert_eq!(of_top("java.io.FileInputStream.readBytes"), Some(READS_STREAM));
        assert_eq!(of_top("java.io.FileOutputStream.writeBytes"), Some(WRITES_STREAM));
        assert_eq!(of_top("sun.nio.ch.UnixFileDispatcherImpl.size0"), None);
        assert_eq!(of_top("shop.io.FileInputStream.readBytes"), None, "of somebody else");
    }

    #[test]
    fn a_channel_that_connects_waits_outside_and_one_that_accepts_does_not() {
        let of_channel = |method: &str| {
            let frame = format!("java.base/sun.nio.ch.{method}(Channel.java:2)");
            of(&["java.base/sun.nio.ch.Net.poll(Native Method)", &frame, "shop.Quote.price(Quote.java:8)"])
        };
        assert_eq!(of_channel("SocketChannelImpl.connect"), Some(CONNECTS));
        assert_eq!(of_channel("SocketChannelImpl.blockingConnect"), Some(CONNECTS));
        assert_eq!(of_channel("ServerSocketChannelImpl.accept"), None);
        let written = "java.base/sun.nio.ch.UnixFileDispatcherImpl.write0(Native Method)";
        let channel = "java.base/sun.nio.ch.SocketChannelImpl.write(SocketChannelImpl.java:2)";
        assert_eq!(of(&[written, channel]), Some(WRITES), "a socket has a file, too");
    }
}
