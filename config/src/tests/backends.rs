//! Tests of several servers behind the server, and of cores by role.

use super::*;
use threadcount_model::experiment::RoleCores;

const SHOP: &str = r#"
question: q
server: {jar: shop, args: "--port={port}", ready: /orders/1}
backends:
  database: {command: "database {port}", ready: tcp, env: {PASSWORD: "{secret}"}, connection_limit: 300, stop_within: 4s}
  neighbour: {jar: neighbour, args: "--port={port} --database={database.port}", ready: /, jvm: -Xmx64m}
env: {DATABASE: "127.0.0.1:{database.port}", NEIGHBOUR: "{neighbour.url}/x", PASSWORD: "{secret}"}
jdk: 25
request: /orders/1
variants: {shop: {}, alone: {backends: {database: {command: "other {port}"}}, env: {NEIGHBOUR: ""}}}
loads: [{clients: 4, duration: 1s}, {name: own, clients: 5, duration: 1s, cores: "3"}]
cores: {load: "0", server: [1, 2], database: 3-4}
"#;

fn refused(from: &str, to: &str) -> (String, String) {
    assert!(SHOP.contains(from), "{from}");
    mistake_in(&SHOP.replacen(from, to, 1))
}

#[test]
fn several_backends_have_names_readiness_environment_and_limits_in_their_order() {
    let shop = good(SHOP);
    let [database, neighbour] = shop.variants[0].backends.as_slice() else { panic!("two backends") };
    let command = |command: &str, ready: &str| {
        let url = "http://127.0.0.1:{port}".to_owned();
        Server::Command(CommandServer { command: command.into(), url, ready: ready.into() })
    };
    assert_eq!((database.name.as_str(), &database.server), ("database", &command("database {port}", "tcp")));
    assert_eq!((database.connection_limit, database.stop_within_s), (Some(300), Some(4.0)));
    assert_eq!(database.env["PASSWORD"], "{secret}");
    assert_eq!((neighbour.name.as_str(), neighbour.jdk, neighbour.jvm.len()), ("neighbour", Some(25), 1));
    let own = &shop.variants[1].backends;
    assert_eq!(own.iter().map(|it| &it.server).collect::<Vec<_>>(), [&command("other {port}", "/")]);
}

#[test]
fn cores_are_handed_to_the_roles_where_the_machine_has_them_and_else_to_none() {
    let mut shop = good(SHOP);
    shop.pin_roles(None);
    let cores = |shop: &Experiment| {
        let variant = &shop.variants[0];
        let backends = variant.backends.iter().map(|backend| backend.cores.clone());
        let loads = shop.loads.iter().map(|load| load.sending.cores.clone());
        loads.chain([variant.cores.clone()]).chain(backends).collect::<Vec<_>>()
    };
    assert_eq!(cores(&shop), [vec![0], vec![3], vec![1, 2], vec![3, 4], vec![]]);
    assert_eq!(shop.cores.as_ref().map(RoleCores::all), Some(vec![0, 1, 2, 3, 4]));
    let json = serde_json::to_string(&shop).expect("JSON");
    assert_eq!(serde_json::from_str::<Experiment>(&json).expect("the same"), shop);

    let mut small = good(SHOP);
    small.pin_roles(Some("core 4 cannot be had".to_owned()));
    assert_eq!(cores(&small), [vec![], vec![3], vec![], vec![], vec![]]);
    assert_eq!(small.cores.and_then(|cores| cores.refused).as_deref(), Some("core 4 cannot be had"));
}

#[test]
fn mistakes_in_backends_and_roles_point_at_their_token() {
    let known = [
        ("  database: {", "  server: {", "server", "`server` cannot be the name of a backend"),
        ("  database: {", "  server.log: {", "server.log", "`server.log` cannot be the name of a backend"),
        (
            "{neighbour.url}",
            "{neighbor.url}",
            "shop",
            "`shop` refers to a backend at `{neighbor.url}`, and there is none",
        ),
        (
            "{neighbour.url}",
            "{backend}",
            "shop",
            "`shop` refers to a backend at `{backend}`, and there is none of this name",
        ),
        (
            "ready: tcp",
            "ready: udp",
            "udp",
            "`ready` must be a path, and `udp` is not | begin it with a slash: `/udp`; or write `tcp`",
        ),
        (
            "connection_limit: 300",
            "connection_limit: 0",
            "0",
            "`connection_limit` must be a whole number from 1",
        ),
        (
            "env: {PASSWORD: \"{secret}\"}, conn",
            "threads: virtual, conn",
            "threads",
            "a backend has no key `threads`",
        ),
        ("command: \"database {port}\", ", "", "{ready", "the backend `database` has no server"),
        (
            "database: 3-4}",
            "databse: 3-4}",
            "databse",
            "there is no role `databse` | did you mean `database`?",
        ),
        ("load: \"0\"", "load: zero", "zero", "`load` must be numbers of cores"),
        (
            "\njdk: 25",
            "\nbackend: {command: \"x {port}\"}\njdk: 25",
            "backends",
            "there is a `backend` and there are `backends`",
        ),
    ];
    for (from, to, token, message) in known {
        let (marked, printed) = refused(from, to);
        assert_eq!(marked, token, "{to}: {printed}");
        assert!(printed.starts_with(message), "{to}: {printed}");
    }
    let (marked, printed) = refused("{database.port}\", ready", "{later.port}\", ready");
    assert_eq!(marked, "neighbour", "{printed}");
    assert!(
        printed.starts_with("`neighbour` uses `{later.port}`, and no backend before it has this name"),
        "{printed}"
    );
    let (_, printed) =
        mistake_in(&SHOP.replace("cores: {load: \"0\", server: [1, 2], database: 3-4}", "cores: 0-1"));
    assert!(printed.starts_with("`cores` is a map from role to cores"), "{printed}");
}
