//! Tells whether a JVM has room for what we are about to ask of it. HotSpot exits if it cannot start the thread of its attach listener or
//! cannot commit memory, and the application suffers if we take the last thread or file. So the limits are read from the kernel before
//! anything is sent.

use super::{java_room, process, thread_trial};
use crate::cgroup::{Membership, memory};
use procfs::process::{Limit, LimitValue, Process, all_processes};
use procfs::{Current, LoadAverage, Meminfo};
use std::fmt;
use std::fs;
use std::path::Path;
use threadcount_model::figures;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// The largest stack that HotSpot accepts.
const GIB: u64 = 1 << 30;

/// The capabilities that free a process from the kernel's limit on a user's processes (`copy_process` in kernel/fork.c).
const UNLIMITED: u64 = 1 << CAP_SYS_ADMIN | 1 << CAP_SYS_RESOURCE;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_SYS_RESOURCE: u32 = 24;
/// The user namespace that the machine started with (`PROC_USER_INIT_INO`): only its root and its capabilities lift limits.
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";
/// The least amount by which the advice raises a limit: more than we ever need of threads or files.
const RAISED_BY_AT_LEAST: u64 = 100;
/// The value of `vm.overcommit_memory` with which the kernel commits no more memory than its limit allows.
const STRICT_OVERCOMMIT: &str = "2";

/// A resource of which a process may have only a limited amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Threads,
    OpenFiles,
    Mappings,
    AddressBytes,
    MemoryBytes,
    HeapBytes,
    MetaspaceBytes,
    CodeCacheBytes,
    ClassSpaceBytes,
    CpuSeconds,
}

impl Resource {
    /// The noun behind an amount in messages.
    const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::OpenFiles => "open files",
            Self::Mappings => "memory mappings",
            Self::AddressBytes => "of address space",
            Self::MemoryBytes => "of memory",
            Self::HeapBytes => "of heap",
            Self::MetaspaceBytes => "of metaspace",
            Self::CodeCacheBytes => "of code cache",
            Self::ClassSpaceBytes => "of class space",
            Self::CpuSeconds => "of CPU time",
        }
    }

    fn amount(self, amount: u64) -> String {
        match self {
            Self::Threads | Self::OpenFiles | Self::Mappings => figures::whole(amount as f64),
            Self::CpuSeconds => format!("{amount} s"),
            _ => figures::bytes(amount),
        }
    }
}

/// The amount of each resource that must be free before a JVM gets a request: what the request took with Java 21 and 25 when measured, and
/// as much again for what the application takes at the same moment.
///
/// The order is that of [`Resource`]: threads, open files, mappings, the bytes of address space, memory, heap, metaspace, code cache and
/// class space, and seconds of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need([u64; 10]);

impl Need {
    /// The attach listener: 1 thread, its socket and a connection, 4 mappings, 1 MiB.
    pub(super) const LISTENER: Self = Self([8, 8, 32, 16 * MIB, 8 * MIB, 0, 0, 0, 0, 1]);
    /// A thread dump as JSON, which Java code writes: 2.4 MiB of heap, 4.2 MiB of metaspace, 0.4 MiB of class space, 1.5 MiB of code, 9 MiB
    /// in all.
    pub(super) const DUMP: Self = Self([0, 4, 32, 24 * MIB, 24 * MIB, 4 * MIB, 5 * MIB, MIB, MIB, 4]);
    /// A probe that reads the owners of locks and ends: 2 threads, 3 files, 40 mappings, 24 MiB with the listener, 12 MiB of heap
    /// that become garbage, 3.3 MiB of metaspace, 0.4 MiB of class space, 3.5 MiB of code with what is compiled meanwhile.
    pub const LOCKS: Self = Self([12, 12, 96, 64 * MIB, 48 * MIB, 8 * MIB, 4 * MIB, 2 * MIB, MIB, 4]);
    /// The same probe in a JVM with this many threads of any kind: each may stand in a queue that is read whole, and takes 80 bytes of heap
    /// there.
    #[must_use]
    pub const fn locks_of(threads: u64) -> Self {
        let mut need = Self::LOCKS;
        need.0[Resource::HeapBytes as usize] += threads * 160;
        need
    }

    /// A thread dump as text, of a JVM with this many threads: Java 21 keeps up to 10 MiB of it in memory, and twice that while it grows.
    pub(super) fn printed(threads: u64) -> Self {
        let mut need = Self([0; 10]);
        need.0[Resource::MemoryBytes as usize] = 8 * MIB + (threads * 8 * KIB).min(20 * MIB);
        need
    }

    /// A probe that stays, with its recording: 12 threads, 13 files, 69 mappings, 62 MiB with the listener, 8 MiB of heap that stay,
    /// 13 MiB of metaspace, 1.5 MiB of class space, 8 MiB of code.
    pub const WATCH: Self =
        Self([24, 32, 160, 192 * MIB, 96 * MIB, 16 * MIB, 20 * MIB, 4 * MIB, 3 * MIB, 10]);
    /// The least that must stay free while the probe is in a JVM, or it leaves. The probe itself watches the heap.
    pub(crate) const STAY: Self = Self([0, 0, 0, 0, 32 * MIB, 0, 0, 0, 0, 5]);

    /// This many new platform threads: each has a stack of 1 MiB in two mappings, and touches little of it.
    #[must_use]
    pub const fn for_threads(threads: u64) -> Self {
        Self([threads + 12, 0, 2 * threads, threads * MIB, threads * MIB / 8, 0, 0, 0, 0, 0])
    }

    /// The same need, in a JVM whose threads have stacks of this size instead of the usual 1 MiB. Half of the needed threads are the
    /// application's.
    const fn with_stacks(mut self, stack_bytes: u64) -> Self {
        let stacks = self.0[Resource::Threads as usize].div_ceil(2);
        self.0[Resource::AddressBytes as usize] += stacks * stack_bytes.saturating_sub(MIB);
        self
    }

    /// The need of the same request when it is repeated, when its classes are already loaded.
    pub(super) const fn again(&self) -> Self {
        let [threads, files, mappings, address, memory, heap, _, _, _, cpu_s] = self.0;
        Self([threads, files, mappings, address, memory, heap, 0, 0, 0, cpu_s])
    }

    const fn amount(&self, resource: Resource) -> u64 {
        self.0[resource as usize]
    }
}

/// One limit, and how much of it is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub resource: Resource,
    pub used: u64,
    pub limit: u64,
    /// The owner of the counted amount, with a verb: `it has`.
    pub holder: &'static str,
    /// The limit's name, as an administrator knows it.
    pub name: String,
    pub advice: String,
}

/// A limit that leaves less than a request needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    room: Room,
    needed: u64,
}

impl Lack {
    /// Whether the next garbage collection may remove the lack.
    pub(super) fn is_of_heap(&self) -> bool {
        // With a collector that never frees memory, the heap counts as fully used.
        self.room.resource == Resource::HeapBytes && self.room.used < self.room.limit
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Room { resource, used, limit, holder, name, advice } = &self.room;
        let (needed, used, limit) =
            (resource.amount(self.needed), resource.amount(*used), resource.amount(*limit));
        write!(
            f,
            "{needed} {} must be free, but {holder} {used} of {limit} ({name}). {advice}",
            resource.name()
        )
    }
}

/// The first limit of a running process that leaves less than is needed. A limit that cannot be read does not count.
#[must_use]
pub fn lack(pid: u32, need: &Need) -> Option<Lack> {
    let need = need.with_stacks(stack_bytes(&process::options(pid)));
    first_lack(rooms(&Process::new(i32::try_from(pid).ok()?).ok()?, &need), &need)
}

/// The address space that the stack of a platform thread takes, by the options of a JVM.
fn stack_bytes(options: &[String]) -> u64 {
    let size = |text: &str| match text.parse() {
        Ok(bytes) => Some(bytes),
        Err(_) => java_room::size(&text.to_uppercase()),
    };
    let kib = |text: &str| text.parse::<u64>().ok()?.checked_mul(KIB);
    let of_option = |word: &String| match word.strip_prefix("-Xss") {
        Some(text) => size(text),
        None => kib(word.strip_prefix("-XX:ThreadStackSize=")?),
    };
    options.iter().rev().find_map(of_option).unwrap_or(MIB).min(GIB)
}

pub(super) fn first_lack(rooms: Vec<Room>, need: &Need) -> Option<Lack> {
    let is_short = |room: &Room| room.limit.saturating_sub(room.used) < need.amount(room.resource);
    rooms.into_iter().find(is_short).map(|room| Lack { needed: need.amount(room.resource), room })
}

fn rooms(process: &Process, need: &Need) -> Vec<Room> {
    let mut rooms = own_rooms(process, need).unwrap_or_default();
    let groups = Membership::of_process(process.pid().unsigned_abs());
    let folders = groups.pids.iter().flat_map(|levels| &levels.folders);
    rooms.extend(folders.filter_map(|folder| group_threads(folder)));
    rooms.extend(groups.memory.iter().flat_map(memory::uses).map(|group| Room {
        resource: Resource::MemoryBytes,
        used: group.used_bytes,
        limit: group.limit_bytes,
        holder: "its control group uses",
        name: format!("`{}`", group.file.display()),
        advice: "Raise it, or the memory limit of its container".to_owned(),
    }));
    rooms.extend(machine_rooms());
    rooms
}

/// The limits of the process itself (`ulimit`), from /proc/PID/limits.
fn own_rooms(process: &Process, need: &Need) -> Option<Vec<Room>> {
    let (limits, status) = (process.limits().ok()?, process.status().ok()?);
    let pid = process.pid();
    let room = |resource, used, limit: &Limit, holder, flag: char, option: &str| {
        let LimitValue::Value(soft) = limit.soft_limit else { return None };
        Some(Room {
            resource,
            used,
            limit: soft,
            holder,
            name: format!("`ulimit -{flag}`"),
            advice: format!("`{}` raises it in the running JVM", raising(pid, option, limit, soft)),
        })
    };
    let bytes = |kib: Option<u64>| kib.unwrap_or_default() << 10;
    let namespace = fs::read_link(format!("/proc/{pid}/ns/user")).unwrap_or_default();
    let wanted = need.amount(Resource::Threads);
    let threads = if wanted == 0 || lifts_limit(&namespace, status.ruid, status.capeff) {
        None
    } else {
        let used = threads_of_user(status.ruid);
        room(Resource::Threads, used, &limits.max_processes, "its user runs", 'u', "nproc")
    };
    let is_foreign = !namespace.as_os_str().is_empty() && namespace != Path::new(FIRST_USER_NAMESPACE);
    let has_room = threads.as_ref().is_none_or(|room: &Room| room.limit.saturating_sub(room.used) >= wanted);
    let hidden = (is_foreign && wanted > 0 && has_room)
        .then(|| of_namespace(pid.unsigned_abs(), status.ruid, &limits.max_processes, wanted))
        .flatten();
    // The kernel sends SIGXCPU when its time is over, which ends a JVM.
    let cpu_s = process.stat().map_or(0, |stat| (stat.utime + stat.stime) / procfs::ticks_per_second());
    let files = process.fd_count().map_or(0, |count| count as u64);
    let (address, data) = (bytes(status.vmsize), bytes(status.vmdata));
    let own = [
        room(Resource::OpenFiles, files, &limits.max_open_files, "it has", 'n', "nofile"),
        room(Resource::AddressBytes, address, &limits.max_address_space, "it uses", 'v', "as"),
        room(Resource::AddressBytes, data, &limits.max_data_size, "it uses", 'd', "data"),
        room(Resource::CpuSeconds, cpu_s, &limits.max_cpu_time, "it has used", 't', "cpu"),
    ];
    // To count them holds up a JVM that maps memory meanwhile.
    let most = procfs::sys::vm::max_map_count().ok().filter(|_| need.amount(Resource::Mappings) > 0);
    let mappings = most.map(|limit| Room {
        resource: Resource::Mappings,
        used: lines_of(&format!("/proc/{pid}/maps")),
        limit,
        holder: "it has",
        name: "vm.max_map_count".to_owned(),
        advice: format!("`sysctl vm.max_map_count={}` raises it", limit.saturating_mul(2)),
    });
    Some([threads, hidden, mappings].into_iter().chain(own).flatten().collect())
}

/// The limit of the process's user namespace, if it is not the machine's first one; `None` if it leaves as many threads as are wanted.
fn of_namespace(pid: u32, uid: u32, own: &Limit, wanted: u64) -> Option<Room> {
    let soft = match own.soft_limit {
        LimitValue::Value(soft) => soft,
        LimitValue::Unlimited => u64::MAX,
    };
    let started = thread_trial::started(pid, uid, soft, wanted).ok()?;
    (started < wanted).then(|| Room {
        resource: Resource::Threads,
        used: wanted - started,
        limit: wanted,
        holder: "its user namespace refused, when it was tried,",
        name: "the `ulimit -u` that the creator of the namespace had".to_owned(),
        advice: "Make the namespace below a higher limit".to_owned(),
    })
}

/// A command that raises a limit well beyond what is needed. Only root may raise the hard limit, which the command does where necessary.
fn raising(pid: i32, option: &str, limit: &Limit, soft: u64) -> String {
    let larger = soft.saturating_add(soft.max(RAISED_BY_AT_LEAST));
    match limit.hard_limit {
        LimitValue::Value(hard) if hard < larger => {
            format!("sudo prlimit --pid {pid} --{option}={larger}")
        }
        _ => format!("prlimit --pid {pid} --{option}={larger}:"),
    }
}

/// Whether a process is free from the kernel's limit on a user's processes. In another user namespace not even root is.
fn lifts_limit(namespace: &Path, uid: u32, capabilities: u64) -> bool {
    namespace == Path::new(FIRST_USER_NAMESPACE) && (uid == 0 || capabilities & UNLIMITED != 0)
}

/// The threads of all processes of a real user: the number that `ulimit -u` limits.
fn threads_of_user(uid: u32) -> u64 {
    let statuses = all_processes().into_iter().flatten().flatten().filter_map(|it| it.status().ok());
    statuses.filter(|status| status.ruid == uid).map(|status| status.threads).sum()
}

fn group_threads(folder: &Path) -> Option<Room> {
    let number = |name: &str| crate::cgroup::file::number(folder, name);
    Some(Room {
        resource: Resource::Threads,
        used: number("pids.current")?,
        limit: number("pids.max")?,
        holder: "its control group runs",
        name: format!("`{}`", folder.join("pids.max").display()),
        advice: "Raise it, or the limit of processes of its container (`--pids-limit`)".to_owned(),
    })
}

/// The limits that all processes of the machine share.
fn machine_rooms() -> Vec<Room> {
    let threads = LoadAverage::current().map_or(0, |load| u64::from(load.max));
    let limit = |name: &str, limit: Option<u64>| {
        limit.map(|limit| Room {
            resource: Resource::Threads,
            used: threads,
            limit,
            holder: "the machine runs",
            name: name.to_owned(),
            advice: format!("`sysctl {name}={}` raises it", limit.saturating_mul(2)),
        })
    };
    let pid_max = procfs::sys::kernel::pid_max().ok().and_then(|it| u64::try_from(it).ok());
    let threads_max = procfs::sys::kernel::threads_max().ok().map(u64::from);
    let memory = Meminfo::current().ok();
    let memory_room = |used: u64, limit: u64, name: &str| Room {
        resource: Resource::MemoryBytes,
        used,
        limit,
        holder: "the machine uses",
        name: name.to_owned(),
        advice: "End other programs first".to_owned(),
    };
    let available = memory.as_ref().and_then(|memory| {
        let used = memory.mem_total.saturating_sub(memory.mem_available?);
        Some(memory_room(used, memory.mem_total, "MemAvailable in /proc/meminfo"))
    });
    let is_strict =
        fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|it| it.trim() == STRICT_OVERCOMMIT);
    let committed = memory.filter(|_| is_strict).and_then(|memory| {
        Some(memory_room(memory.committed_as, memory.commit_limit?, "vm.overcommit_memory=2, Committed_AS"))
    });
    let limits =
        [limit("kernel.pid_max", pid_max), limit("kernel.threads-max", threads_max), available, committed];
    limits.into_iter().flatten().collect()
}

fn lines_of(file: &str) -> u64 {
    fs::read(file).map_or(0, |text| text.iter().filter(|&&byte| byte == b'\n').count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    const NOTHING: Need = Need([0; 10]);

    fn need(resource: Resource, amount: u64) -> Need {
        let mut need = NOTHING;
        need.0[resource as usize] = amount;
        need
    }

    struct Sleeper(Child);

    impl Sleeper {
        /// A process that a shell starts below this `ulimit`.
        fn below(limit: &str) -> Self {
            let script = format!("ulimit {limit}; exec sleep 600");
            Self(Command::new("sh").args(["-c", &script]).spawn().unwrap())
        }

        /// The message about the lack, as soon as there is one: the shell sets its limit a moment after it was started.
        fn lack(&self, need: Need) -> String {
            loop {
                if let Some(lack) = lack(self.0.id(), &need) {
                    return lack.to_string();
                }
                std::thread::yield_now();
            }
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            self.0.kill().ok();
            self.0.wait().ok();
        }
    }

    #[test]
    fn a_process_with_room_lacks_nothing() {
        let sleeper = Sleeper(Command::new("sleep").arg("600").spawn().unwrap());
        assert_eq!(lack(sleeper.0.id(), &Need::LISTENER), None);
        assert_eq!(lack(sleeper.0.id(), &NOTHING), None);
    }

    #[test]
    fn a_limit_that_leaves_too_little_is_named_with_its_use_and_what_raises_it() {
        let files = Sleeper::below("-n 20");
        let pid = files.0.id();
        let says = files.lack(need(Resource::OpenFiles, 19));
        assert!(says.starts_with("19 open files must be free, but it has "), "{says}");
        let expected = format!(
            " of 20 (`ulimit -n`). `sudo prlimit --pid {pid} --nofile=120` raises it in the running JVM"
        );
        assert!(says.ends_with(&expected), "{says}");
        let soft = Sleeper::below("-Sn 20");
        let pid = soft.0.id();
        let says = soft.lack(need(Resource::OpenFiles, 19));
        assert!(says.contains(&format!(" `prlimit --pid {pid} --nofile=120:` raises it")), "{says}");
        let says = Sleeper::below("-v 65536").lack(need(Resource::AddressBytes, 1 << 30));
        assert!(says.starts_with("1.07 GB of address space must be free, but it uses "), "{says}");
        assert!(says.contains("of 67.1 MB (`ulimit -v`)"), "{says}");
        let says = Sleeper::below("-d 65536").lack(need(Resource::AddressBytes, 67 << 20));
        assert!(says.contains("of 67.1 MB (`ulimit -d`)"), "{says}");
        let says = Sleeper::below("-t 60").lack(need(Resource::CpuSeconds, 61));
        assert!(
            says.starts_with("61 s of CPU time must be free, but it has used 0 s of 60 s (`ulimit -t`)"),
            "{says}"
        );
    }

    #[test]
    fn large_stacks_need_more_address_space() {
        let stack =
            |words: &[&str]| stack_bytes(&words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(stack(&["java", "-Xmx64m"]), MIB);
        assert_eq!(stack(&["-Xss2m", "-Xss64M"]), 64 * MIB);
        assert_eq!((stack(&["-Xss524288"]), stack(&["-XX:ThreadStackSize=512"])), (MIB / 2, MIB / 2));
        let listener = Need::LISTENER.with_stacks(64 * MIB);
        assert_eq!(listener.amount(Resource::AddressBytes), (16 + 4 * 63) * MIB);
        assert_eq!(Need::LISTENER.with_stacks(MIB / 2), Need::LISTENER);
    }

    #[test]
    fn limits_that_no_process_meets_are_those_of_the_machine() {
        let own = std::process::id();
        let says = |resource| lack(own, &need(resource, u64::MAX)).unwrap().to_string();
        assert!(says(Resource::Mappings).contains("vm.max_map_count"));
        let threads = says(Resource::Threads);
        assert!(
            ["kernel.pid_max", "ulimit -u", "pids.max"].iter().any(|it| threads.contains(it)),
            "{threads}"
        );
    }

    #[test]
    fn threads_are_counted_for_their_user() {
        let own = rustix::process::getuid().as_raw();
        let before = threads_of_user(own);
        let _sleepers = [(); 3].map(|()| Sleeper(Command::new("sleep").arg("600").spawn().unwrap()));
        assert!(before > 0 && threads_of_user(own) >= 3 && threads_of_user(u32::MAX - 1) == 0);
    }

    #[test]
    fn only_root_and_capabilities_of_the_first_user_namespace_lift_the_limit_of_a_users_processes() {
        let lifts = |namespace: &str, uid, capabilities| lifts_limit(Path::new(namespace), uid, capabilities);
        assert!(
            lifts(FIRST_USER_NAMESPACE, 0, 0) && lifts(FIRST_USER_NAMESPACE, 1_000, 1 << CAP_SYS_RESOURCE)
        );
        assert!(!lifts(FIRST_USER_NAMESPACE, 1_000, 0b11));
        assert!(!lifts("user:[4026532000]", 0, u64::MAX));
    }
}
