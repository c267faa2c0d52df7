//! Results and experiments match their JSON Schemas.

use crate::documents;

use crate::schema::{complaints, result_file};
use serde_json::json;
use std::path::Path;
use threadcount_judge::finding::Finding;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::finding::words;
use threadcount_model::experiment::SessionSize;

#[test]
fn results_of_every_shape_are_what_the_schema_says() {
    for (what, document) in [("demo", documents::demo()), ("hostile", documents::hostile())] {
        assert_eq!(complaints(&serde_json::to_value(document).unwrap()), [] as [String; 0], "{what}");
    }
    for folder in ["before", "after"] {
        result_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/tests/results").join(folder));
    }
}

/// Figures of each kind of finding from a real run, as stored in a result.
const FINDINGS: [&str; 19] = [
    r#"{"rule":"generator","figures":{"limited":{"kind":"own","why":"it used 97 % of a core"},"cpu_share":0.97,
        "cpu_us_per_request":10.5,"send_lag_p99_ms":7.2}}"#,
    r#"{"rule":"generator","figures":{"limited":{"kind":"external","full_processes":1,"processes":2},"cpu_share":0.99,
        "cpu_us_per_request":10.5,"send_lag_p99_ms":null}}"#,
    r#"{"rule":"accept-queue","figures":{"overflows":21,"syn_retransmits":27,"clients":200}}"#,
    r#"{"rule":"limits","figures":{"limit":"server-files","open":1022,"at_most":1024}}"#,
    r#"{"rule":"limits","figures":{"limit":"source-ports","failed_requests":12,"time_wait":28000,"ports":28232}}"#,
    r#"{"rule":"pinned-carriers","figures":{"shown_by":"carrier-states","carriers":2.0,"pinned_share":0.0,
        "all_pinned_share":0.0,"mean_pin_ms":null,"held_share":1.0,"queued_threads":198.0,"rate_per_s":40.0,
        "server_cpu_cores":0.05,"site":null,"wait":null,"stood":[],"java":21}}"#,
    r#"{"rule":"busy-without-progress","figures":{"samples":100.0,"without_work_share":0.95,"yielding_share":0.35,
        "carriers_full_share":1.0,"queued_threads":18.0,"server_cpu_cores":1.9,"rate_per_s":160.0,"site":{"holder":null,
        "application":"shop.Poll.until:31","top":null,"reason":{"kind":"yield"},"total":{"count":35,"total_ms":0.0,
        "longest_ms":0.0}}}}"#,
    r#"{"rule":"waiting","figures":{"resource":{"kind":"connection-pool","library":"hikari","name":"Pool (shop)","waiting":31.0},
        "servers":{"count":10.0,"known_by":"gauge"},"full_share":1.0,"in_flight":null,"rate_per_s":null,
        "is_rate_estimate":false,"service_time_ms":null,"unqueued_ms":null,"in_service":null,"queue":null,"tail":null}}"#,
    r#"{"rule":"concurrency-limit","figures":{"resource":{"kind":"threads","name":"task-*","is_event_loop":false,"executor":null},
        "servers":{"count":8.0,"known_by":"count"},"full_share":null,"in_flight":100.0,"rate_per_s":400.0,
        "is_rate_estimate":false,"service_time_ms":null,"unqueued_ms":null,"in_service":{"state":"sleep","resource":null,
        "peer":null,"application":"shop.Task.run:9","library":null,"holder":null,"share":1.0},"queue":{"requests":80.0,
        "activity":null,"request_share":null,"without_carrier":0.0,"time":null},"tail":null}}"#,
    r#"{"rule":"gc","figures":{"paused_share":0.2,"pauses_per_run":4.0,"longest_pause_ms":340.0,"slow_seconds":null,"tail":null}}"#,
    r#"{"rule":"gc","figures":{"paused_share":0.02,"pauses_per_run":4.0,"longest_pause_ms":340.0,"slow_seconds":
        {"slowest_ms":400.0,"seconds":2.0,"explained_seconds":2.0,"others_share":0.0},"tail":{"p50_ms":50.0,"p99_ms":88.0,"delay_ms":19.0,"delayed_share":0.021}}}"#,
    r#"{"rule":"unbounded-requests","figures":{"virtual_thread_stacks":1597.0,"live_bytes":266000000.0,
        "heap_bytes":268435456.0,"least_variant":"platform","least_live_bytes":112000000.0}}"#,
    r#"{"rule":"thread-caches","figures":{"bytes_per_request":12000.0,"all_bytes_per_request":20000.0,"places":[{
        "asked_by":"shop.Dates.format:17","application":null,"class":"byte[]","bytes_per_request":12000.0}]}}"#,
    r#"{"rule":"thread-caches","figures":{"bytes_per_request":null,"all_bytes_per_request":null,"bytes_per_s":12000000.0,
        "all_bytes_per_s":20000000.0,"places":[{"asked_by":"shop.Dates.format:17","application":null,"class":"byte[]",
        "bytes_per_request":null,"bytes_per_s":12000000.0}]}}"#,
    r#"{"rule":"allocation-stalls","figures":{"stalls_per_run":500.0,"mean_ms":10.0,"longest_ms":80.0,"waiting_share":0.31}}"#,
    r#"{"rule":"throttled","figures":{"quota_cores":0.5,"period_ms":100.0,"throttled_periods_per_run":92.0,
        "throttled_share":0.92,"throttled_ms":4000.0,"server_cpu_cores":null,"generator_shares_quota":true}}"#,
    r#"{"rule":"cpu-ceiling","figures":{"cpu":{"in_use_cores":1.94,"machine_cores":2.0,"server_cores":1.4,
        "server_kernel_cores":0.5,"server_gc_cores":0.4,"server_compilation_cores":null,"generator_cores":0.35,"backend_cores":0.0},
        "rate_per_s":18100.0,"large_part":"garbage-collection"}}"#,
    r#"{"rule":"memory-growth","figures":{"memory":"resident-set","from_bytes":2e8,"to_bytes":3e8,"window_s":10.0}}"#,
    r#"{"rule":"memory-growth","figures":{"memory":"heap-after-collections","from_bytes":5e7,"to_bytes":1.3e8,
        "window_s":10.0}}"#,
];

#[test]
fn a_result_of_an_earlier_version_is_read_without_findings_that_nobody_knows_any_more() {
    let mut older = serde_json::to_value(documents::demo()).unwrap();
    let known = older["findings"].as_array().unwrap().len();
    let gone =
        json!({"variant": "virtual", "load": "c400", "runs": null, "rule": "kind-or-size", "figures": {}});
    older["findings"].as_array_mut().unwrap().push(gone);
    let other_figures = json!({"variant": "platform", "load": "c400", "runs": null, "rule": "pool-ceiling", "figures": {"threads": 200.0}});
    older["findings"].as_array_mut().unwrap().push(other_figures);
    let experiment = older["experiment"].as_object_mut().unwrap();
    experiment.remove("size");
    experiment.insert("quick".to_owned(), json!(true));
    let read: ResultDocument = serde_json::from_value(older).unwrap();
    assert_eq!((read.findings.len(), read.experiment.size), (known, SessionSize::Quick));
}

#[test]
fn each_kind_of_finding_is_what_the_schema_says_and_is_read_with_its_figures() {
    let good = serde_json::to_value(documents::demo()).unwrap();
    for text in FINDINGS {
        let mut finding: serde_json::Value = serde_json::from_str(text).unwrap();
        finding["variant"] = json!("virtual");
        finding["load"] = json!("c400");
        finding["runs"] = json!({"showing": 2, "complete": 3});
        let mut document = good.clone();
        document["findings"] = json!([finding]);
        assert_eq!(complaints(&document), [] as [String; 0], "{text}");
        let read: Finding = serde_json::from_value(finding.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), finding);
        assert!(!words(&read).sentence.is_empty());
        document["findings"][0]["figures"] = json!({"clients": 4});
        assert_ne!(complaints(&document), [] as [String; 0], "figures of another kind: {text}");
    }
}

#[test]
fn the_schema_refuses_what_is_no_result() {
    let good = serde_json::to_value(documents::demo()).unwrap();
    let wrong = [
        ("/records/0/measured/requests/sent", json!("many")),
        ("/comparisons/0/ratios/0/metric", json!("speed")),
        ("/comparisons/0/ratios/0/verdict", json!("better")),
        ("/rounds/0/why", json!("each comparison is decided")),
        ("/why_not", json!(["the generator was the bottleneck"])),
    ];
    for (place, value) in wrong {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap_or_else(|| panic!("{place} is in the demo")) = value;
        assert_ne!(complaints(&bad), [] as [String; 0], "{place}");
    }
}
