//! Tests of paths that show whether a server is healthy.

use threadcount_config::parse;

#[test]
fn a_path_that_no_load_requests_says_whether_a_server_is_healthy() {
    let text = "question: q\nserver: {command: 'x {port}', ready: /health}\nrequest: '/orders/{rand:7:7}'\nbackends: \
        {database: {command: 'y {port}', ready: tcp}, neighbour: {command: 'z {port}', ready: /up}}\n\
        variants: {a: {}, b: {server: {ready: /orders/7}}, c: {server: {ready: /}}}\nloads: [{clients: 1, duration: 1s}]\n";
    let mut paths = parse("x", "x.yaml", text, false).expect("an experiment").health_paths();
    paths.sort();
    paths.dedup();
    assert_eq!(paths, ["/health", "/up"]);
    let by_default = "question: q\nserver: {command: 'x {port}'}\nrequest: /orders\nvariants: {a: {}}\n\
        loads: [{clients: 1, duration: 1s}]\n";
    let experiment = parse("x", "x.yaml", by_default, false).expect("an experiment");
    assert_eq!(experiment.health_paths(), [] as [String; 0]);
}

#[test]
fn a_path_that_follows_from_a_request_that_each_load_replaces_is_none_of_health() {
    let text = "question: q\nserver: {command: 'x {port}'}\nrequest: {path: /orders, method: POST}\nvariants: {a: {}}\n\
        loads: [{clients: 1, duration: 1s, request: /items}]\n";
    let by_default = parse("x", "x.yaml", text, false).expect("an experiment");
    assert_eq!(by_default.health_paths(), [] as [String; 0]);
    let written = text.replace("'x {port}'", "'x {port}', ready: /orders");
    let written = parse("x", "x.yaml", &written, false).expect("an experiment");
    assert_eq!(written.health_paths(), ["/orders"]);
}
