//! The keys of a load. The keys for sending it are in [`sending`].

use crate::{request, sending};
use threadcount_model::parse::key_spec::{
    KeySpec, List, OneOrMore, at_most_one, each_there, json_schema, map,
};
use threadcount_model::parse::value_kinds::{
    AnyDuration, Count, LargeCount, Listed, Name, PositiveDuration, Rate, Text, Whole,
};
use threadcount_model::{keys, value_kinds};
use threadcount_servers::workload::capacity::keys::CapacityKeys;
use threadcount_servers::workload::external::keys::ToolKeys;
use threadcount_servers::workload::jmh::load_keys;

const KEYS: &[KeySpec] = keys! {
    /// Closed loop: connections that each send as soon as they have their response; a list makes a load of each.
    clients: OneOrMore<Count>,
    /// Open loop: requests per second, regardless of response time; a list makes a load of each.
    rate: OneOrMore<Rate>,
    /// A rate that changes: 100:5000:30s.
    ramp: Text,
    /// Rates with their times: [100:10s, 500:5s].
    steps: Listed,
    capacity: CapacityKeys,
    /// The most connections of a rate.
    connections: Count,
    overload: bool,
    losses: Expected,
    /// How many requests are measured.
    requests: LargeCount,
    /// How long is measured.
    duration: PositiveDuration,
    /// The servers of a round run side by side and are measured in turns of this length.
    interleave: PositiveDuration,
    name: Name,
    /// Rounds, at most.
    runs: Count,
    /// First rounds that no figure uses.
    drop: Whole,
    /// The variants that run under it; left out: all.
    variants: List<Text>,
    request: request::Requests,
    warmup: AnyDuration,
    thread_dump: bool,
    keep_alive: bool,
    tool: ToolKeys,
};

value_kinds! {
    /// What is sent.
    pub(in super::super) LoadKeys = |generator| {
        let rules = json_schema!({
            "anyOf": each_there(&["clients", "rate", "ramp", "steps", "capacity", "iterations"]),
            "allOf": [
                at_most_one(&["clients", "rate"]),
                {
                    "if": {"required": ["capacity"]},
                    "then": {"not": {"anyOf": each_there(&["requests", "clients", "rate", "ramp", "steps"])}},
                },
                {"if": {"required": ["iterations"]}, "then": {"not": {"anyOf": each_there(&load_keys::OF_SERVERS)}}},
                {
                    "if": {"anyOf": each_there(&["clients", "rate", "iterations"])},
                    "then": {"anyOf": each_there(&["requests", "duration"])},
                },
            ],
            "dependentRequired": {"warmups": ["iterations"], "forks": ["iterations"]},
        });
        map(generator, &keys(), rules)
    };

    Expected = |_| json_schema!({"const": "expected"});
}

pub(super) fn keys() -> Vec<KeySpec> {
    [KEYS, load_keys::KEYS, sending::KEYS].concat()
}
