//! Tests a load for which the descriptors just suffice.

use super::transport::Transport;
use super::{child, outcome_of, requests};
use crate::reply::Reply;
use crate::server::Server;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;
use std::thread;
use threadcount_load::limits::LimitError;
use threadcount_load::plan::Pacing;
use threadcount_load::run::{Control, LoadError, run};

const CONNECTIONS: u32 = 200;

fn allow(descriptors: u64) {
    let limit = Rlimit { current: Some(descriptors), maximum: getrlimit(Resource::Nofile).maximum };
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// Runs with exactly as many descriptors as the load says that it needs.
fn load(way: Transport, port: u16) {
    for threads in [1, 2, 40] {
        let plan = way.plan_to(port, CONNECTIONS, Pacing::Closed, requests(2_000)).with(|plan| {
            plan.keep_alive = false;
            plan.threads = NonZeroU32::new(threads);
        });
        allow(u64::from(CONNECTIONS));
        let refused = run(&plan, Control::new(&AtomicBool::new(false), &mut |_| {}));
        let Err(LoadError::Limit(LimitError::Descriptors { needed, .. })) = refused else {
            panic!("{refused:?}")
        };
        allow(needed);
        let outcome = outcome_of(&plan);
        assert_eq!(outcome.counts.failed, 0, "{way:?}, {threads} threads: {:?}", outcome.failures);
        assert_eq!(outcome.connections_opened, 2_000);
    }
}

#[test]
fn a_load_that_has_the_descriptors_it_asks_for_never_lacks_one() {
    if let Some((way, port)) = child::part() {
        return load(way, port);
    }
    let name = thread::current().name().unwrap().to_owned();
    // All responses of a round arrive together.
    let server = Server::start(Transport::Plain, |_| Reply::answer("hi").after_ms(20));
    let mut generator = child::start(&name, Transport::Plain, server.port);
    assert!(generator.wait().unwrap().success());
}
