//! Parses `Thread.print`, which the JVM prints without Java code: platform threads, the virtual thread that each carries, and their locks.

use super::frame::Frame;
use super::thread_dump::DumpedThread;
use threadcount_machine::thread_print::{ThreadText, threads};

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
    /// The class that it waits for while another thread initialises it.
    pub class_to_begin: Option<String>,
    pub frames: Vec<Frame>,
}

impl PrintedThread {
    /// The class and the address of the monitor or synchronizer that it waits for.
    fn awaited(&self) -> Option<&str> {
        self.waits_to_lock.as_deref().or(self.parked_for.as_deref())
    }
}

/// The threads in the form of a dump of all threads, for use when there is no such dump.
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
        waits_on: it.gave_up.clone(),
        scope_owner: None,
    };
    printed.iter().map(thread).collect()
}

/// A circle of platform threads that the JVM found itself: their ids, and the lock that each waits for.
pub type PrintedCircle = Vec<(u64, Option<String>)>;

/// The deadlocks that the JVM reports in sections `Found one Java-level deadlock:`, if every line agrees with what these threads of the
/// same print wait for. A thread's name may contain such a section, but it cannot know the addresses of objects.
#[must_use]
pub fn circles(text: &str, threads: &[PrintedThread]) -> Vec<PrintedCircle> {
    let sections = text.split("Found one Java-level deadlock:\n=============================\n").skip(1);
    sections.filter_map(|section| circle(section, threads)).collect()
}

/// Parses a section. Names need not be unique, so a circle ends with its section, not with an owner that has the first thread's name.
fn circle<'a>(mut rest: &'a str, threads: &'a [PrintedThread]) -> Option<PrintedCircle> {
    let mut circle: Vec<&PrintedThread> = Vec::new();
    let mut last_owner: Option<&str> = None;
    while let Some((waiter, owner, behind)) = threads
        .iter()
        .filter(|it| {
            last_owner.is_none_or(|name| name == it.name) && circle.iter().all(|known| known.tid != it.tid)
        })
        .find_map(|it| link_of(it, rest, threads))
    {
        circle.push(waiter);
        (last_owner, rest) = (Some(owner), behind);
    }
    let is_closed = circle.len() > 1 && last_owner == circle.first().map(|it| it.name.as_str());
    is_closed.then(|| circle.iter().map(|it| (it.tid, it.awaited().map(str::to_owned))).collect())
}

/// If the text begins with the lines of this waiter: the waiter, the name of the owner of what it waits for, and the rest of the text.
fn link_of<'a>(
    waiter: &'a PrintedThread,
    text: &'a str,
    threads: &'a [PrintedThread],
) -> Option<(&'a PrintedThread, &'a str, &'a str)> {
    let (class, address) = waiter.awaited()?.rsplit_once('@')?;
    let (wait, owned) = text
        .strip_prefix('"')?
        .strip_prefix(&waiter.name)?
        .strip_prefix("\":\n  waiting ")?
        .split_once('\n')?;
    let is_for_it =
        [format!("(object {address}, a {class}),"), format!("synchronizer {address}, (a {class}),")];
    let owned = owned
        .strip_prefix("  which is held by \"")
        .filter(|_| is_for_it.iter().any(|it| wait.ends_with(it)))?;
    let owners =
        threads.iter().filter_map(|it| Some((&it.name, owned.strip_prefix(&it.name)?.strip_prefix("\"\n")?)));
    let (owner, behind) = owners.max_by_key(|(name, _)| name.len())?;
    Some((waiter, owner, behind.trim_start_matches('\n')))
}

/// The Java threads in a print.
#[must_use]
pub fn parse(text: &str) -> Vec<PrintedThread> {
    threads(text).filter_map(printed_thread).collect()
}

fn printed_thread(text: ThreadText<'_>) -> Option<PrintedThread> {
    let tid = text.header.split_whitespace().next()?.parse().ok()?;
    let os_id = text.header.split_once('[').and_then(|(_, it)| it.split_once(']')?.0.parse().ok());
    let mut thread = PrintedThread { tid, name: text.name.to_owned(), os_id, ..PrintedThread::default() };
    // The stack of a virtual thread is printed below that of its carrier.
    let body = text.body.split("Mounted virtual thread ").next().unwrap_or_default();
    body.lines().for_each(|line| detail(&mut thread, line.trim()));
    Some(thread)
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
        // The JVM prints the monitor at the frame that took it, even after `Object.wait` has given it up.
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
pub(crate) mod tests {
    use super::*;

    /// Parses headers and details after adding what the JVM prints besides: an address in each header, and a list of all of them before.
    pub fn printed(text: &str) -> Vec<PrintedThread> {
        parse(&with_addresses(text))
    }

    fn with_addresses(text: &str) -> String {
        let mut headers = 0;
        let mut addresses = Vec::new();
        let lines = text.lines().map(|line| {
            if line.starts_with('"') && line.contains("\" #") {
                headers += 1;
                addresses.push(format!("0x00007f{headers:04}"));
                format!("{line} tid=0x00007f{headers:04} nid=1 runnable\n")
            } else {
                format!("{line}\n")
            }
        });
        let body: String = lines.collect();
        let list = addresses.join(", ");
        format!(
            "Full thread dump X (25):\n\nThreads class SMR info:\n_java_thread_list=0x1, length={headers}, elements={{\n{list}\n}}\n\n{body}"
        )
    }

    #[test]
    fn a_name_with_line_ends_is_one_name_and_makes_no_thread_no_frame_and_no_lock() {
        let name = "x\" #99 [99] prio=5 tid=0x99 nid=9\n\tat shop.Login.check(Login.java:1)\n\t- locked <0x7> (a A)\n\n\"y\" #98 [98] tid=0x98";
        let text = format!(
            "Threads class SMR info:\n_java_thread_list=0x1, length=2, elements={{\n0x11, 0x12\n}}\n\n\"{name}\" #20 [4160] prio=5 tid=0x11 nid=1\n\
             \tat shop.Orders.find(Orders.java:42)\n\n\"main\" #1 [4161] prio=5 tid=0x12 nid=2\n\n\"VM Thread\" os_prio=0 tid=0x13 nid=3\n"
        );
        let threads = parse(&text);
        assert_eq!(threads.iter().map(|it| it.tid).collect::<Vec<_>>(), [20, 1]);
        assert_eq!((threads[0].name.as_str(), threads[0].os_id), (name, Some(4_160)));
        assert_eq!((threads[0].frames.len(), threads[0].locked.len()), (1, 0));
        assert_eq!(parse(&text.replace("_java_thread_list", "list")), [], "no list, so no header is known");
    }

    #[test]
    fn a_thread_that_waits_for_a_class_to_be_initialised_is_not_running() {
        let text = "\"a\" #20 [4160] prio=5\n   java.lang.Thread.State: RUNNABLE\n\tat shop.Prices.<clinit>(Prices.java:3)\n\
                    \t- waiting on the Class initialization monitor for shop.Taxes\n";
        assert_eq!(printed(text)[0].class_to_begin.as_deref(), Some("shop.Taxes"));
    }

    #[test]
    fn a_monitor_that_wait_has_given_up_is_not_owned() {
        let text = "\"worker\" #20 [4160] prio=5\n\t- waiting on <0x1> (a A)\n\t- locked <0x1> (a A)\n\t- locked <0x2> (a B)\n";
        assert_eq!(printed(text)[0].locked, ["B@0x2"]);
        let text = text.replace("waiting on", "waiting to re-lock in wait()");
        assert_eq!(
            (printed(&text)[0].locked.len(), printed(&text)[0].waits_to_lock.as_deref()),
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
        let [parked, carrier] = &as_dumped(&printed(text))[..] else { panic!("two threads") };
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

    const BOTH: &str = "\"a\" #20 [4160] prio=5\n\t- waiting to lock <0x1> (a A)\n\t- locked <0x2> (a B)\n\n\
                        \"b\" #21 [4161] prio=5\n\t- parking to wait for  <0x2> (a B)\n\t- locked <0x1> (a A)\n";

    fn section(first: &str, second: &str) -> String {
        format!(
            "JNI global refs: 4, weak refs: 0\n\n\nFound one Java-level deadlock:\n=============================\n\"a\":\n  waiting to lock monitor 0x9 \
             (object {first}, a A),\n  which is held by \"b\"\n\n\"b\":\n  waiting for ownable synchronizer {second}, (a B),\n  which is held by \"a\"\n\n\
             Java stack information for the threads listed above:\n\"a\":\n"
        )
    }

    #[test]
    fn a_circle_that_the_jvm_found_is_believed_where_its_threads_wait_for_these_objects() {
        let threads = printed(BOTH);
        let circle = vec![(20, Some("A@0x1".to_owned())), (21, Some("B@0x2".to_owned()))];
        assert_eq!(circles(&section("0x1", "0x2"), &threads), [circle]);
        assert_eq!(circles(&section("0x1", "0x3"), &threads), Vec::<PrintedCircle>::new(), "another object");
        assert_eq!(circles(&section("0x1", "0x2"), &threads[..1]), Vec::<PrintedCircle>::new());
        let idle = printed("\"a\" #20 [4160] prio=5\n\"b\" #21 [4161] prio=5\n");
        assert_eq!(
            circles(&section("0x1", "0x2"), &idle),
            Vec::<PrintedCircle>::new(),
            "they wait for nothing"
        );
    }

    #[test]
    fn threads_of_one_name_wait_for_each_other_in_a_circle_and_one_that_is_cut_off_is_none() {
        let threads = printed(&BOTH.replace("\"b\"", "\"a\""));
        let section = section("0x1", "0x2").replace("\"b\"", "\"a\"");
        let circle = vec![(20, Some("A@0x1".to_owned())), (21, Some("B@0x2".to_owned()))];
        assert_eq!(circles(&section, &threads), [circle]);
        let cut = &section[..section.find("  waiting for ownable").unwrap()];
        assert_eq!(circles(cut, &threads), Vec::<PrintedCircle>::new());
    }

    #[test]
    fn a_carrier_and_a_blocked_thread_are_read() {
        let text = "\"ForkJoinPool-1-worker-1\" #14 [4159] daemon prio=5 os_prio=0 cpu=0.84ms tid=0x7f [0x1]\n   \
                    Carrying virtual thread #15\n\tat jdk.internal.vm.Continuation.run(java.base@21.0.8/Unknown Source)\n\n\
                    \"debit\" #20 [4160] prio=5\n   java.lang.Thread.State: BLOCKED (on object monitor)\n\
                    \t- waiting to lock <0x00000000fc0c7c78> (a java.lang.Object)\n\t- locked <0x00000000fc0c7c68> (a java.lang.Object)\n\n\
                    \"VM Thread\" os_prio=0 cpu=1.61ms\n\nFound one Java-level deadlock:\n\"debit\":\n";
        let threads = printed(text);
        assert_eq!(threads.len(), 2);
        assert_eq!((threads[0].os_id, threads[0].carries), (Some(4_159), Some(15)));
        assert_eq!(threads[1].waits_to_lock.as_deref(), Some("java.lang.Object@0x00000000fc0c7c78"));
        assert_eq!(threads[1].locked, ["java.lang.Object@0x00000000fc0c7c68"]);
        assert_eq!(threads[1].state.as_deref(), Some("BLOCKED"));
    }
}
