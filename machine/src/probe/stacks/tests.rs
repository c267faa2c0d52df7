use super::*;
use crate::probe::readings::tests::read;

const S: u64 = NANOS_PER_S;

fn sample(at_s: u64, number: u64, threads: (u32, u32), drawn: (u32, u32)) -> String {
    format!(
        r#"{{"type":"stacks","t_ns":{},"sample":{number},"platform_threads":{},"virtual_threads":{},"platform_drawn":{},"virtual_drawn":{},"platform_gone":0,"virtual_gone":0,"families":false,"cpu_ns":1000000}}"#,
        at_s * S,
        threads.0,
        threads.1,
        drawn.0,
        drawn.1
    )
}

fn group(number: u64, is_virtual: bool, role: &str, state: &str, application: &str, count: u32) -> String {
    format!(
        r#"{{"type":"stack_group","t_ns":1,"sample":{number},"virtual":{is_virtual},"role":"{role}","state":"{state}","resource":null,"application":"{application}","library":null,"holder":"a.H.h:{number}","peer":null,"count":{count}}}"#
    )
}

#[test]
fn each_drawn_thread_stands_for_as_many_of_its_kind_as_were_not_drawn() {
    let profile = read(&[
        sample(11, 0, (30, 100), (10, 10)),
        group(0, true, "request", "semaphore", "a.A.a:1", 4),
        group(0, false, "request", "semaphore", "a.A.a:1", 2),
        group(0, false, "worker", "queue", "", 5),
        group(0, false, "other", "select", "", 3),
        sample(12, 1, (0, 20), (0, 20)),
        group(1, true, "request", "semaphore", "a.A.a:1", 20),
    ])
    .wait_profile
    .unwrap();
    assert_eq!((profile.samples, profile.stacks, profile.idle_workers), (2, 40, 7.5));
    assert_eq!(profile.groups.len(), 1);
    assert_eq!(profile.groups[0].threads, [46.0, 20.0]);
    assert_eq!(profile.mean_threads(&profile.groups[0]), 33.0);
    assert!((profile.sampler_cpu_cores - 0.0002).abs() < 1e-12);
}

#[test]
fn samples_outside_of_the_window_and_their_groups_do_not_count() {
    let group = |number| group(number, true, "request", "sleep", "a.A.a:1", 1);
    let before = [sample(9, 0, (0, 1), (0, 1)), group(0)];
    assert_eq!(read(&before).wait_profile, None);
    let lines = [&before[..], &[sample(11, 1, (0, 1), (0, 1)), sample(21, 2, (0, 1), (0, 1)), group(2)]];
    let profile = read(&lines.concat()).wait_profile.unwrap();
    assert_eq!((profile.samples, profile.groups), (1, vec![]));
}

#[test]
fn running_threads_are_one_group_with_their_most_frequent_place_and_waiting_ones_one_for_each() {
    let profile = read(&[
        sample(11, 0, (0, 10), (0, 10)),
        group(0, true, "request", "running", "a.A.a:1", 1),
        group(0, true, "request", "running", "a.A.a:2", 2),
        group(0, true, "request", "lock", "a.L.l:1", 3),
        group(0, true, "request", "lock", "a.L.l:2", 4),
    ])
    .wait_profile
    .unwrap();
    let seen: Vec<_> = profile
        .groups
        .iter()
        .map(|it| (it.activity.state, it.activity.application.as_deref(), profile.mean_threads(it)))
        .collect();
    assert_eq!(
        seen,
        [
            (ThreadState::Lock, Some("a.L.l:2"), 4.0),
            (ThreadState::Running, Some("a.A.a:2"), 3.0),
            (ThreadState::Lock, Some("a.L.l:1"), 3.0),
        ]
    );
    assert_eq!(profile.groups[0].activity.holder.as_deref(), Some("a.H.h:0"));
}

#[test]
fn groups_are_bounded_and_no_thread_is_lost() {
    let mut lines = vec![sample(11, 0, (0, 100), (0, 100))];
    lines.extend((0..100).map(|line| group(0, true, "request", "sleep", &format!("a.A.a:{line}"), 1)));
    let profile = read(&lines).wait_profile.unwrap();
    assert_eq!(profile.groups.len(), MOST_GROUPS + 1);
    let all: f64 = profile.groups.iter().map(|group| profile.mean_threads(group)).sum();
    assert_eq!(all, 100.0);
}

#[test]
fn a_state_that_only_a_newer_probe_knows_is_a_wait() {
    let profile =
        read(&[sample(11, 0, (0, 1), (0, 1)), group(0, true, "request", "telepathy", "a.A.a:1", 1)])
            .wait_profile;
    assert_eq!(profile.unwrap().groups[0].activity.state, ThreadState::Wait);
}

fn line(role: &str, state: &str, is_virtual: bool, peer: &str, count: u32) -> String {
    group(0, is_virtual, role, state, "a.A.a:1", count).replace("\"peer\":null", &format!("\"peer\":{peer}"))
}

fn roles(lines: &[String]) -> Vec<(ThreadRole, f64)> {
    let lines = [&[sample(11, 0, (100, 100), (100, 100))], lines].concat();
    let profile = read(&lines).wait_profile.unwrap();
    profile.groups.iter().map(|it| (it.role, profile.mean_threads(it))).collect()
}

#[test]
fn threads_that_ended_before_they_were_looked_at_are_shared_out_among_those_seen() {
    let gone = sample(11, 0, (0, 40), (0, 20)).replace("\"virtual_gone\":0", "\"virtual_gone\":4");
    let lines = [
        gone,
        group(0, true, "request", "semaphore", "a.A.a:1", 12),
        group(0, true, "request", "running", "a.A.a:1", 4),
    ];
    let profile = read(&lines).wait_profile.unwrap();
    assert_eq!(profile.gone, 8.0);
    // Every listed thread is counted, all 40: three quarters of those seen wait.
    assert_eq!(profile.groups.iter().map(|it| it.threads[0]).collect::<Vec<_>>(), [30.0, 10.0]);
}

#[test]
fn a_thread_without_frames_and_a_callback_of_a_client_are_requests_only_under_a_known_server() {
    let unknown = |is_virtual| line("unknown", "carrier", is_virtual, "null", 7);
    let request = |is_virtual| line("request", "lock", is_virtual, "null", 9);
    let application = || line("application", "lock", true, "null", 3);
    use ThreadRole::{Application, Request};
    assert_eq!(roles(&[request(true), unknown(true)]), [(Request, 9.0), (Request, 7.0)]);
    assert_eq!(roles(&[unknown(true)]), [(Application, 7.0)]);
    // A server on platform threads, whose requests run tasks on virtual threads.
    assert_eq!(
        roles(&[request(false), unknown(true), application()]),
        [(Request, 9.0), (Application, 7.0), (Application, 3.0)]
    );
    let client = || line("client", "running", false, "null", 2);
    assert_eq!(roles(&[request(true), client()]), [(Request, 9.0), (Request, 2.0)]);
    assert_eq!(roles(&[client()]), [(Application, 2.0)]);
    // Groups with the same place and state are merged, whatever their original role.
    assert_eq!(roles(&[line("request", "running", false, "null", 1), client()]), [(Request, 3.0)]);
}

#[test]
fn a_peer_is_named_where_nearly_all_sockets_of_a_group_are_connected_to_it() {
    let peer = |peers: &[(&str, u32)]| {
        let mut lines = vec![sample(11, 0, (0, 100), (0, 100))];
        lines.extend(peers.iter().map(|(peer, count)| line("request", "socket", true, peer, *count)));
        read(&lines).wait_profile.unwrap().groups[0].activity.peer.clone()
    };
    assert_eq!(peer(&[("\"h:1\"", 9), ("null", 1)]), Some("h:1".to_owned()));
    assert_eq!(peer(&[("\"h:1\"", 6), ("null", 4)]), Some("h:1".to_owned()));
    assert_eq!(peer(&[("\"h:1\"", 8), ("\"h:2\"", 2)]), None);
    assert_eq!(peer(&[("\"h:1\"", 2), ("null", 8)]), None);
}

#[test]
fn a_sample_stands_for_the_time_around_it() {
    let at = |at_s: u64, number| sample(at_s, number, (0, 1), (0, 1));
    let lines = [at(11, 0), at(12, 1), at(18, 2), group(2, true, "request", "sleep", "a.A.a:1", 1)];
    let profile = read(&lines).wait_profile.unwrap();
    // The window is from 10 to 20 s: the last sample stands for 3 s before it and 2 s after it.
    assert_eq!(profile.sample_s, [1.0, 3.5, 5.0]);
    assert!((profile.mean_threads(&profile.groups[0]) - 5.0 / 9.5).abs() < 1e-12);
}

#[test]
fn why_there_are_no_samples_is_kept() {
    let ended = |at_s: u64| format!(r#"{{"type":"stacks_ended","t_ns":{},"why":"no such field"}}"#, at_s * S);
    let profile = read(&[ended(1)]).wait_profile.unwrap();
    assert_eq!((profile.samples, profile.ended.as_deref()), (0, Some("no such field")));
    assert_eq!(read(&[ended(21)]).wait_profile, None, "after the window");
}
