//! Our tools never end a JVM that is close to a limit. `diagnose`, `watch` and `compare --attach` answer with a result or with a sentence that
//! names the limit, and the JVM continues.

mod answers;

use crate::group::Group;
use answers::{Answers, Mounted, as_user, on_both};
use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use threadcount_machine::attach::{JvmProcess, Need};
use threadcount_machine::probe::attach::load_agent;
use threadcount_machine::probe::jar;

const MIB: u64 = 1 << 20;
const GIVE_UP: Duration = Duration::from_secs(120);
/// With this flag a JVM ends at the first memory that it cannot have.
const EXITS: &str = "-XX:+ExitOnOutOfMemoryError";
/// A limit for files. A recording needs more than twice as much in one file.
const SMALL_FILE: &str = "--fsize=1048576:";

/// The line with which the probe ends the events, but not the readings.
const EVENTS_ENDED: &str = r#""what":"events""#;

/// Attaching starts a thread, and HotSpot exits if it cannot. Only on Java 25, because another user cannot read the home folder with the
/// other Java.
#[test]
fn as_many_threads_as_the_user_may_have() {
    let user = 2_000_000_000 + std::process::id();
    let mut full = Answers::start_as(user, &[], 25, &[]);
    full.ask("serve");
    full.limit(&format!("--nproc={}:", full.count("task")));
    full.bears("(`ulimit -u`)", "(`ulimit -u`)");
    let mut roomy = Answers::start_as(user + 1, &[], 25, &[]);
    roomy.limit(&format!("--nproc={}:", roomy.count("task") + 40));
    roomy.bears("Nothing hangs: idle.", "platform threads");
}

/// The kernel checks the limit of the creator of a user namespace too, and no file shows that limit.
#[test]
fn as_many_threads_as_the_creator_of_its_user_namespace_could_have() {
    const LIMIT: usize = 60;
    let user = 2_100_000_000 + std::process::id();
    let limit = format!("--nproc={LIMIT}:1000");
    let own_limit = "ulimit -S -u 1000; exec \"$@\"";
    let below = ["prlimit", &limit, "unshare", "--user", "--map-root-user", "bash", "-c", own_limit, "bash"];
    let mut jvm = Answers::start_as(user, &below, 25, &[]);
    let told = jvm.told(&["diagnose", "--no-agent"]);
    assert!(told.contains("Nothing hangs: idle."), "{told}");
    let mut full = Answers::start_as(user + 1, &below, 25, &[]);
    let sleepers = LIMIT - full.count("task") - 2;
    let sleep = |_| as_user(user + 1, Path::new("sleep")).arg("600").spawn().unwrap();
    let mut sleepers: Vec<Child> = (0..sleepers).map(sleep).collect();
    full.bears("its user namespace refused", "its user namespace refused");
    for sleeper in &mut sleepers {
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}

#[test]
fn as_many_threads_as_the_control_group_may_have() {
    on_both(|feature| {
        let group = Group::with_processes(&format!("bearable-{feature}"));
        let mut full = Answers::start_in(&group, feature, &[]);
        full.ask("serve");
        group.limit_processes(full.count("task"));
        full.bears("pids.max`)", "pids.max`)");
    });
}

#[test]
fn as_many_threads_as_a_crossover_leaves_the_application() {
    on_both(|feature| {
        let group = Group::with_processes(&format!("crossover-{feature}"));
        let mut jvm = Answers::start_in(&group, feature, &[]);
        jvm.ask("serve");
        group.limit_processes(jvm.count("task") + 40);
        let told = jvm.compared(&["-c", "64", "--crossover", "--treatments", "own,platform-64"]);
        assert!(told.contains("64 more threads in this JVM") && told.contains("pids.max`)"), "{told}");
    });
}

#[test]
fn as_much_memory_as_the_control_group_may_have() {
    on_both(|feature| {
        let group = Group::with_memory(&format!("full-{feature}"));
        let mut full = Answers::start_in(&group, feature, &[]);
        full.ask("serve");
        group.leave_memory(4 * MIB);
        full.bears("its control group uses", "its control group uses");
    });
}

/// The text of a thread dump takes memory as well: the more threads, the more memory.
#[test]
fn less_memory_than_a_dump_of_many_threads_takes() {
    on_both(|feature| {
        let group = Group::with_memory(&format!("dump-{feature}"));
        let mut full = Answers::start_in(&group, feature, &["-Xss256k"]);
        full.ask("deep platform 2000 60");
        group.leave_memory(12 * MIB);
        let told = full.told(&["diagnose"]);
        assert!(told.contains("its control group uses"), "{told}");
    });
}

#[test]
fn a_control_group_whose_memory_runs_out_while_it_is_watched() {
    on_both(|feature| {
        let group = Group::with_memory(&format!("watched-{feature}"));
        let mut jvm = Answers::start_in(&group, feature, &[]);
        reached_while_watched(&mut jvm, |_| group.leave_memory(16 * MIB), "its control group uses");
    });
}

#[test]
fn as_much_cpu_time_as_it_may_have() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &[]);
        let stat = fs::read_to_string(format!("/proc/{}/stat", full.pid())).unwrap();
        let ticks = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
        let used_s = ticks.map(|it| it.parse::<u64>().unwrap()).sum::<u64>() / 100;
        full.limit(&format!("--cpu={}:", used_s + 3));
        full.bears("(`ulimit -t`)", "(`ulimit -t`)");
    });
}

#[test]
fn as_many_open_files_as_it_may_have() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &[]);
        full.ask("serve");
        full.limit(&format!("--nofile={}:", full.count("fd") + 2));
        full.bears("(`ulimit -n`)", "(`ulimit -n`)");
    });
}

#[test]
fn as_much_address_space_as_it_may_have() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &[]);
        full.ask("serve");
        full.limit(&format!("--as={}:", full.status_bytes("VmSize:") + 4 * MIB));
        full.bears("(`ulimit -v`)", "(`ulimit -v`)");
    });
}

#[test]
fn less_address_space_than_the_stack_of_a_thread_takes() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &["-Xss128m"]);
        full.limit(&format!("--as={}:", full.status_bytes("VmSize:") + 64 * MIB));
        full.bears("(`ulimit -v`)", "(`ulimit -v`)");
    });
}

#[test]
fn as_much_data_as_it_may_have() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &[]);
        full.ask("serve");
        full.limit(&format!("--data={}:", full.status_bytes("VmData:") + 2 * MIB));
        full.bears("(`ulimit -d`)", "(`ulimit -d`)");
    });
}

#[test]
fn no_file_as_large_as_a_recording() {
    on_both(|feature| {
        let mut small = Answers::start(feature, &[]);
        small.limit(SMALL_FILE);
        small.bears("Nothing hangs: idle.", "a file of this JVM may have 1 MiB and 48 MiB are needed");
        let told = small.told(&["watch", "--json", "-d", "1s"]);
        assert!(told.contains(r#""what":"events""#) && told.contains(r#""type":"sample""#), "{told}");
    });
}

#[test]
fn a_full_disk() {
    on_both(|feature| {
        let disk = Mounted::new("size=8m");
        let mut full = Answers::start(feature, &[&disk.flag()]);
        full.bears("Nothing hangs: idle.", "8 MiB are free and 48 MiB are needed");
    });
}

#[test]
fn a_disk_without_inodes_and_a_disk_that_cannot_be_written() {
    on_both(|feature| {
        let disk = Mounted::new("nr_inodes=2");
        let mut without = Answers::start(feature, &[&disk.flag()]);
        without.bears("Nothing hangs: idle.", "free space, files (inodes) or quota");
        let disk = Mounted::new("ro");
        let mut read_only = Answers::start(feature, &[&disk.flag()]);
        let told = read_only.told(&["watch", "-d", "1s"]);
        assert!(told.contains("it is not writable; make it writable"), "{told}");
    });
}

#[test]
fn a_full_heap() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &["-Xmx24m", EXITS]);
        full.ask(&format!("fill {}", 2 * MIB));
        full.bears("(`-Xmx`)", "(`-Xmx`)");
    });
}

/// The stacks of all threads together take more than the heap has left.
#[test]
fn a_heap_with_less_room_than_the_stacks_of_its_threads_take() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &["-Xmx128m", EXITS]);
        full.ask("deep virtual 3000 100");
        full.ask(&format!("fill {}", 16 * MIB));
        let found = JvmProcess::find(full.jvm.id()).unwrap();
        let lines = full.classes.path().join("locks");
        let argument = format!("out=file:{},level=locks,limit_ms=60000", lines.display());
        load_agent(&found, &jar::find().unwrap(), &argument, &Need::LOCKS, GIVE_UP).unwrap();
        full.ask("still there");
        assert!(fs::read_to_string(&lines).unwrap().contains(r#""type":"end""#));
    });
}

#[test]
fn a_heap_and_a_class_space_that_are_filled_while_it_is_watched() {
    on_both(|feature| {
        // More than its survivor space, which the application cannot have.
        let mut jvm = Answers::start(feature, &["-Xmx40m", EXITS]);
        let filled = format!("fill {}", 3 * MIB);
        reached_while_watched(&mut jvm, |jvm| jvm.ask(&filled), "has taken nearly all of its heap");
        let mut jvm = Answers::start(feature, &["-Xmx128m", "-XX:CompressedClassSpaceSize=16m", EXITS]);
        let words = "has taken nearly all of its Compressed Class Space";
        reached_while_watched(&mut jvm, |jvm| jvm.ask("classes 300000"), words);
    });
}

#[test]
fn garbage_in_a_small_heap_is_no_full_heap_once_it_was_collected() {
    on_both(|feature| {
        // The eden space has 12.8 MiB.
        let mut jvm = Answers::start(feature, &["-Xmx24m", "-Xms24m", "-Xmn16m", EXITS]);
        jvm.ask("collect");
        jvm.ask(&format!("litter {}", 8 * MIB));
        let told = jvm.told(&["watch", "-d", "1s"]);
        assert!(told.contains("platform threads"), "{told}");
    });
}

#[test]
fn a_full_metaspace() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &["-XX:MaxMetaspaceSize=5m", EXITS]);
        full.bears("(`-XX:MaxMetaspaceSize`)", "(`-XX:MaxMetaspaceSize`)");
    });
}

#[test]
fn a_full_class_space() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &["-Xmx128m", "-XX:CompressedClassSpaceSize=16m", EXITS]);
        full.ask("serve");
        full.ask("classes 300000");
        full.bears("(`-XX:CompressedClassSpaceSize`)", "(`-XX:CompressedClassSpaceSize`)");
    });
}

#[test]
fn a_collector_that_frees_nothing() {
    on_both(|feature| {
        let epsilon = ["-XX:+UnlockExperimentalVMOptions", "-XX:-UseSerialGC", "-XX:+UseEpsilonGC"];
        let mut jvm = Answers::start(feature, &epsilon);
        jvm.bears("(`-XX:+UseEpsilonGC`)", "(`-XX:+UseEpsilonGC`)");
    });
}

/// Only on Java 25, because the other Java may be below the /tmp that is hidden.
#[test]
fn no_room_for_the_socket_on_which_it_listens() {
    let in_a_full_tmp = "mount --make-rprivate / && mount -t tmpfs -o nr_inodes=1 tmpfs /tmp && exec \"$@\"";
    let below = ["unshare", "--mount", "sh", "-c", in_a_full_tmp, "sh"];
    let mut full = Answers::start_as(0, &below, 25, &["-XX:-UsePerfData"]);
    let told = full.told(&["diagnose"]);
    assert!(told.contains("has no free inodes. Make room there"), "{told}");
}

#[test]
fn a_full_code_cache() {
    on_both(|feature| {
        let mut full = Answers::start(feature, &["-XX:ReservedCodeCacheSize=2600k", EXITS]);
        let told = full.told(&["watch", "-d", "1s"]);
        assert!(told.contains("(`-XX:ReservedCodeCacheSize`)"), "{told}");
    });
}

/// Reaches a limit while the JVM is watched.
fn reached_while_watched(jvm: &mut Answers, reach: impl FnOnce(&mut Answers), words: &str) {
    let mut watch = Command::new(cargo_bin("threadcount"));
    let pid = jvm.pid();
    watch.args(["watch", &pid, "--json", "-d", "2m"]).stdin(Stdio::null());
    let mut watch = watch.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("\"type\":\"events_until\"")), "it has no recording");
    reach(jvm);
    assert!(lines.any(|line| line.contains(words)), "{words}");
    // Without events it goes on; else it ends by itself.
    let goes_on = words == EVENTS_ENDED;
    if goes_on {
        kill_process(Pid::from_child(&watch), Signal::INT).unwrap();
    }
    lines.for_each(drop);
    assert_eq!(watch.wait().unwrap().code(), Some(i32::from(!goes_on)));
    thread::sleep(Duration::from_millis(500));
    jvm.ask("still there");
}

#[test]
fn a_disk_that_runs_full_while_it_is_watched() {
    on_both(|feature| {
        let disk = Mounted::new("size=80m");
        let mut jvm = Answers::start(feature, &[&disk.flag()]);
        let big = disk.0.path().join("big");
        reached_while_watched(&mut jvm, |_| fs::write(&big, vec![1; 70 << 20]).unwrap(), EVENTS_ENDED);
    });
}

#[test]
fn a_limit_of_file_sizes_that_is_set_while_it_is_watched() {
    on_both(|feature| {
        let mut jvm = Answers::start(feature, &[]);
        reached_while_watched(&mut jvm, |jvm| jvm.limit(SMALL_FILE), EVENTS_ENDED);
    });
}

#[test]
fn open_files_that_run_out_while_it_is_watched() {
    on_both(|feature| {
        let mut jvm = Answers::start(feature, &[]);
        jvm.limit("--nofile=200:");
        reached_while_watched(&mut jvm, |jvm| jvm.ask("files"), EVENTS_ENDED);
    });
}
