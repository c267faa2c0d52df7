//! `Thread.print`: platform threads, which virtual thread each carries, and what locks they have. It is printed by the JVM
//! itself, without running Java code.

use super::frame::Frame;
use super::thread_dump::DumpedThread;

const CLASS_TO_BEGIN: &str = "- waiting on the Class initialization monitor for ";

/// A platform thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintedThread {
    pub tid: u64,
    pub name: String,
    /// The kernel's id, as the JVM sees it.
    pub os_id: Option<u32>,
    pub state: Option<String>,
    pub carries: Option<u64>,
    /// The address of the monitor that it wants to enter, with its class.
    pub waits_to_lock: Option<String>,
    pub locked: Vec<String>,
    /// The monitor that it gave up in `Object.wait`.
    pub gave_up: Option<String>,
    pub parked_for: Option<String>,
    /// The class that another thread initialises.
    pub class_to_begin: Option<String>,
    pub frames: Vec<Frame>,
}

/// As a dump has them, where there is none.
#[must_use]
pub fn as_dumped(printed: &[PrintedThread]) -> Vec<DumpedThread> {
    let thread = |it: &PrintedThread| DumpedThread {
        tid: it.tid,
        name: it.name.clone(),
        state: it.state.clone(),
        frames: it.frames.clone(),
        blocked_on: it.waits_to_lock.clone(),
        parked_for: it.parked_for.clone(),
        monitors: it.locked.clone(),
        scope_owner: None,
    };
    printed.iter().map(thread).collect()
}

/// A circle of platform threads that the JVM found itself: names, and the lock that each waits for.
pub type PrintedCircle = Vec<(String, Option<String>)>;

/// The sections `Found one Java-level deadlock:`.
#[must_use]
pub fn circles(text: &str) -> Vec<PrintedCircle> {
    let sections = text.split("Found one Java-level deadlock:\n").skip(1);
    let circle = |section: &str| {
        let list = section.split("Java stack information").next().unwrap_or_default();
        let mut circle = PrintedCircle::new();
        for line in list.lines() {
            if let Some(name) = line.strip_prefix('"').and_then(|it| it.strip_suffix("\":")) {
                circle.push((name.to_owned(), None));
            } else if let Some(last) = circle.last_mut() {
                last.1 = last.1.take().or_else(|| awaited(line));
            }
        }
        circle
    };
    sections.map(circle).filter(|circle| circle.len() > 1).collect()
}

/// `waiting to lock monitor 0x1 (object 0x2, a A),` or `waiting for ownable synchronizer 0x3, (a B),`
fn awaited(line: &str) -> Option<String> {
    let class = |text: &str| text.split_once("a ").map(|it| it.1.trim_end_matches([',', ')']).to_owned());
    let of_monitor = line.split_once("(object ").and_then(|(_, it)| it.split_once(", "));
    let of_synchronizer =
        || line.split_once("ownable synchronizer ").and_then(|(_, it)| it.split_once(", ("));
    let (address, rest) = of_monitor.or_else(of_synchronizer)?;
    Some(format!("{}@{address}", class(rest)?))
}

/// The Java threads of it.
#[must_use]
pub fn parse(text: &str) -> Vec<PrintedThread> {
    let mut threads: Vec<PrintedThread> = Vec::new();
    let mut is_of_carried = false;
    for line in text.lines() {
        // What follows repeats threads of the list.
        if line.starts_with("Found ") && line.contains("deadlock") {
            break;
        }
        // Below a carrier's own stack.
        is_of_carried |= line.trim_start().starts_with("Mounted virtual thread ");
        if line.starts_with('"') {
            is_of_carried = false;
            threads.extend(header(line));
        } else if let Some(thread) = threads.last_mut().filter(|_| !is_of_carried) {
            detail(thread, line.trim());
        }
    }
    threads
}

/// `"name" #14 [4159] daemon prio=5 ...`; the JVM's own threads have no `#`.
fn header(line: &str) -> Option<PrintedThread> {
    let (name, rest) = line.strip_prefix('"')?.rsplit_once("\" #")?;
    let tid = rest.split_whitespace().next()?.parse().ok()?;
    let os_id = rest.split_once('[').and_then(|(_, it)| it.split_once(']')?.0.parse().ok());
    Some(PrintedThread { tid, name: name.to_owned(), os_id, ..PrintedThread::default() })
}

fn detail(thread: &mut PrintedThread, line: &str) {
    let object = |rest: &str| {
        let address = rest.split_once('<')?.1.split_once('>')?.0;
        let class = rest.split_once("(a ").map_or("", |(_, it)| it.trim_end_matches(')'));
        Some(format!("{class}@{address}"))
    };
    if let Some(frame) = line.strip_prefix("at ") {
        thread.frames.push(Frame::parse(frame));
    } else if let Some(id) = line.strip_prefix("Carrying virtual thread #") {
        thread.carries = id.parse().ok();
    } else if let Some(state) = line.strip_prefix("java.lang.Thread.State: ") {
        thread.state = state.split_whitespace().next().map(str::to_owned);
    } else if let Some(rest) = line.strip_prefix("- waiting to lock ") {
        thread.waits_to_lock = object(rest);
    } else if let Some(rest) = line.strip_prefix("- parking to wait for ") {
        thread.parked_for = object(rest);
    } else if let Some(rest) = line.strip_prefix("- locked ") {
        // The JVM prints it at the frame that took it, although `wait` has given it up.
        thread.locked.extend(object(rest).filter(|it| thread.gave_up.as_ref() != Some(it)));
    } else if let Some(class) = line.strip_prefix(CLASS_TO_BEGIN) {
        thread.class_to_begin = Some(class.trim().to_owned());
    } else if let Some(rest) = line.strip_prefix("- waiting on ") {
        thread.gave_up = object(rest);
    } else if let Some(rest) = line.strip_prefix("- waiting to re-lock in wait() ") {
        thread.gave_up = object(rest);
        thread.waits_to_lock = object(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waits_for_a_class_to_be_initialised_is_not_running() {
        let text = "\"a\" #20 [4160] prio=5\n   java.lang.Thread.State: RUNNABLE\n\tat shop.Prices.<clinit>(Prices.java:3)\n\
                    \t- waiting on the Class initialization monitor for shop.Taxes\n";
        assert_eq!(parse(text)[0].class_to_begin.as_deref(), Some("shop.Taxes"));
    }

    #[test]
    fn a_monitor_that_wait_has_given_up_is_not_owned() {
        let text = "\"worker\" #20 [4160] prio=5\n\t- waiting on <0x1> (a A)\n\t- locked <0x1> (a A)\n\t- locked <0x2> (a B)\n";
        assert_eq!(parse(text)[0].locked, ["B@0x2"]);
        let text = text.replace("waiting on", "waiting to re-lock in wait()");
        assert_eq!(
            (parse(&text)[0].locked.len(), parse(&text)[0].waits_to_lock.as_deref()),
            (1, Some("A@0x1"))
        );
    }

    #[test]
    fn a_printed_thread_is_as_a_dumped_one_and_one_that_is_carried_is_not_its_carrier() {
        let text = "\"pool-1\" #20 [4160] prio=5\n   java.lang.Thread.State: WAITING (parking)\n\
                    \tat jdk.internal.misc.Unsafe.park(java.base@25.0.3/Native Method)\n\
                    \t- parking to wait for  <0x1> (a java.util.concurrent.Semaphore$NonfairSync)\n\
                    \tat shop.Orders.find(Orders.java:42)\n\n\
                    \"ForkJoinPool-1-worker-1\" #21 [4161] daemon\n   Carrying virtual thread #22\n\
                    \tat jdk.internal.vm.Continuation.run(java.base@25.0.3/Continuation.java:251)\n\
                    \x20  Mounted virtual thread #22\n\tat shop.Work.run(Work.java:7)\n\t- locked <0x2> (a A)\n";
        let [parked, carrier] = &as_dumped(&parse(text))[..] else { panic!("two threads") };
        assert_eq!(
            parked.frames,
            [
                Frame::parse("java.base/jdk.internal.misc.Unsafe.park(Native Method)"),
                Frame::parse("app//shop.Orders.find(Orders.java:42)"),
            ]
        );
        assert_eq!(parked.parked_for.as_deref(), Some("java.util.concurrent.Semaphore$NonfairSync@0x1"));
        assert_eq!((carrier.frames.len(), carrier.monitors.len()), (1, 0));
    }

    #[test]
    fn circles_that_the_jvm_found_are_read() {
        let text = "Found one Java-level deadlock:\n=============================\n\"a\":\n  waiting to lock monitor 0x9 (object 0x1, a A),\n  \
                    which is held by \"b\"\n\n\"b\":\n  waiting for ownable synchronizer 0x2, (a B),\n  which is held by \"a\"\n\n\
                    Java stack information for the threads listed above:\n\"a\":\n";
        let both =
            vec![("a".to_owned(), Some("A@0x1".to_owned())), ("b".to_owned(), Some("B@0x2".to_owned()))];
        assert_eq!(circles(text), [both]);
    }

    #[test]
    fn a_carrier_and_a_blocked_thread_are_read() {
        let text = "\"ForkJoinPool-1-worker-1\" #14 [4159] daemon prio=5 os_prio=0 cpu=0.84ms tid=0x7f [0x1]\n   \
                    Carrying virtual thread #15\n\tat jdk.internal.vm.Continuation.run(java.base@21.0.8/Unknown Source)\n\n\
                    \"debit\" #20 [4160] prio=5\n   java.lang.Thread.State: BLOCKED (on object monitor)\n\
                    \t- waiting to lock <0x00000000fc0c7c78> (a java.lang.Object)\n\t- locked <0x00000000fc0c7c68> (a java.lang.Object)\n\n\
                    \"VM Thread\" os_prio=0 cpu=1.61ms\n\nFound one Java-level deadlock:\n\"debit\" #20 [1]\n";
        let threads = parse(text);
        assert_eq!(threads.len(), 2);
        assert_eq!((threads[0].os_id, threads[0].carries), (Some(4_159), Some(15)));
        assert_eq!(threads[1].waits_to_lock.as_deref(), Some("java.lang.Object@0x00000000fc0c7c78"));
        assert_eq!(threads[1].locked, ["java.lang.Object@0x00000000fc0c7c68"]);
        assert_eq!(threads[1].state.as_deref(), Some("BLOCKED"));
    }
}
