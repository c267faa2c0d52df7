//! Tests of settings for an application's threads from outside: a variable or an argument that its framework knows.

use threadcount_config::parse;
use threadcount_model::experiment::*;

fn variant(keys: &str) -> Variant {
    let text = format!(
        "question: q\nrequest: /\nvariants: {{a: {{{keys}}}}}\nloads: [{{clients: 4, duration: 1s}}]\n"
    );
    parse("x", "x.yaml", &text, false).expect("an experiment").variants[0].clone()
}

const JAR: &str = "server: {jar: mine, args: '--server.port={port}'}";

#[test]
fn a_spring_boot_application_has_its_kind_of_thread_from_an_argument_or_a_variable() {
    let kind = |more: &str| variant(&format!("{JAR}{more}")).kind_setting();
    assert_eq!(kind(""), None);
    assert_eq!(kind(", env: {SPRING_THREADS_VIRTUAL_ENABLED: 'true'}"), Some(ThreadKind::Virtual));
    assert_eq!(kind(", env: {SPRING_THREADS_VIRTUAL_ENABLED: 'false'}"), Some(ThreadKind::Platform));
    let both = ", args: '{port} --spring.threads.virtual.enabled=false', env: {SPRING_THREADS_VIRTUAL_ENABLED: 'true'}";
    assert_eq!(kind(both), Some(ThreadKind::Platform));
    let command = "server: {command: 'x {port}'}, env: {SPRING_THREADS_VIRTUAL_ENABLED: 'true'}";
    assert_eq!(variant(command).kind_setting(), None, "a command may be anything");
}

#[test]
fn the_size_of_a_pool_comes_from_an_argument_or_a_variable_of_the_server() {
    let pool = |more: &str| variant(&format!("{JAR}{more}")).pool_setting();
    assert_eq!(pool(", env: {SERVER_TOMCAT_THREADS_MAX: '400'}"), Some(400));
    assert_eq!(
        pool(", env: {SERVER_JETTY_THREADS_MAX: '9'}, args: '{port} --server.jetty.threads.max=7'"),
        Some(7)
    );
    assert_eq!(pool(", env: {SERVER_UNDERTOW_THREADS_WORKER: '16'}"), Some(16));
    assert_eq!(pool(", env: {SERVER_TOMCAT_THREADS_MIN_SPARE: '4'}"), None);
}

#[test]
fn a_limit_comes_from_an_argument_or_a_variable() {
    let limit = |more: &str| variant(&format!("{JAR}{more}")).limit_setting();
    assert_eq!(limit(", args: '{port} --threadcount.request-limit.max-concurrent=200'"), Some(200));
    assert_eq!(limit(", env: {THREADCOUNT_REQUEST_LIMIT_MAX_CONCURRENT: '7'}"), Some(7));
    assert_eq!(limit(", env: {SERVER_MAX_DASH_CONCURRENT_DASH_REQUESTS: '9'}"), Some(9));
    assert_eq!(limit(""), None);
}
