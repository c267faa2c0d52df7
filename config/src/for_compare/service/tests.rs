use super::*;
use crate::for_compare::asked::CompareAsked;
use crate::for_compare::sample::{asked, experiment};
use std::path::PathBuf;
use tempfile::TempDir;
use threadcount_machine::sample::jar;
use threadcount_model::experiment::estimate::{estimate_s, longest_estimate_s};
use threadcount_model::experiment::{
    DropIn, Experiment, LoadKind, LoadSpec, PoolSize, RequestLimit, RequestSpec, Server, ThreadKind, Threads,
};

/// A jar with this version of Spring Boot and these libraries.
fn application(version: &str, libraries: &[&str]) -> (TempDir, PathBuf) {
    let manifest = format!("Manifest-Version: 1.0\n{version}\n");
    let libraries: Vec<String> = libraries.iter().map(|name| format!("BOOT-INF/lib/{name}")).collect();
    let mut files: Vec<(&str, &[u8])> = libraries.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    files.push(("META-INF/MANIFEST.MF", manifest.as_bytes()));
    files.push(("org/springframework/boot/loader/launch/PropertiesLauncher.class", b"x"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.jar");
    std::fs::write(&path, jar(&files)).unwrap();
    (folder, path)
}

fn compared(compared: Compared, change: impl FnOnce(&mut CompareAsked)) -> Result<Experiment, CompareError> {
    let mut asked = asked("/orders/{rand:1:9}", compared);
    change(&mut asked);
    experiment(&asked)
}

const BOOT_4: &str = "Spring-Boot-Version: 4.1.1";
const TOMCAT_LIBRARY: &str = "tomcat-embed-core-11.0.24.jar";

#[test]
fn a_spring_boot_application_varies_by_its_property_and_has_its_port_in_the_environment() {
    let (_folder, path) = application(BOOT_4, &[TOMCAT_LIBRARY]);
    let made = compared(Compared::SpringBoot(path.clone()), |asked| {
        asked.surroundings.env =
            [("SHOP", "x"), ("SERVER_PORT", "1")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        asked.surroundings.args = Some("--debug".to_owned());
        asked.surroundings.limit = Some(150);
    });
    let made = made.unwrap();
    assert_eq!(made.question, "Do virtual threads help app.jar?");
    let known = |name: &str| made.variant(name).unwrap();
    for (name, is_virtual) in [("platform", "false"), ("virtual", "true"), ("virtual-bounded", "true")] {
        let variant = known(name);
        assert_eq!(variant.env["SERVER_PORT"], "{port}", "{name}");
        assert_eq!(
            (variant.env["SHOP"].as_str(), variant.env["SPRING_THREADS_VIRTUAL_ENABLED"].as_str()),
            ("x", is_virtual)
        );
        let Some(Server::Jar(server)) = variant.server() else { panic!("a jar") };
        assert_eq!((server.jar.as_str(), server.args.as_str()), (path.to_str().unwrap(), "--debug"));
        assert_eq!(server.ready, RequestSpec::get("/orders/{rand:1:9}").sample_path());
        let class_path: &[&str] = if name == "virtual-bounded" { &["executors"] } else { &[] };
        assert_eq!(server.class_path, class_path);
    }
    assert_eq!(known("virtual-bounded").env["THREADCOUNT_REQUEST_LIMIT_MAX_CONCURRENT"], "150");
    assert_eq!(known("virtual-bounded").compare_with.as_deref(), Some("virtual"));
    assert_eq!(made.variants[0].name, "platform", "the baseline");
}

fn with_clients(asked: &mut CompareAsked, clients: u32) {
    asked.load.workload = LoadSpec::new("c", LoadKind::Closed { clients }, RequestSpec::get("/")).workload;
}

#[test]
fn more_clients_than_the_own_pool_has_threads_are_compared_with_a_pool_that_has_one_for_each() {
    let pool_of = |library: &str, clients: u32, own: Option<&str>| {
        let (_folder, path) = application(BOOT_4, &[library]);
        let made = compared(Compared::SpringBoot(path), |asked| {
            with_clients(asked, clients);
            asked
                .surroundings
                .env
                .extend(own.map(|own| ("SERVER_TOMCAT_THREADS_MAX".to_owned(), own.to_owned())));
        });
        let made = made.unwrap();
        let sized = made.variant("platform-sized")?;
        assert_eq!((sized.kind_setting(), made.variants.len()), (Some(ThreadKind::Platform), 3));
        let pairs = made.kind_pairs(&made.loads[0]);
        assert!(pairs.iter().any(|it| (it.variant, it.other) == (sized, &made.variants[1])), "{pairs:?}");
        sized.pool_setting()
    };
    assert_eq!([200, 201].map(|clients| pool_of(TOMCAT_LIBRARY, clients, None)), [None, Some(201)]);
    assert_eq!([60, 40].map(|clients| pool_of(TOMCAT_LIBRARY, clients, Some("50"))), [Some(60), None]);
    assert_eq!(pool_of("jetty-server-12.1.1.jar", 400, None), Some(400));
    for setting in ["--server.tomcat.threads.max=50", "-Dserver.tomcat.threads.max=50"] {
        let (_folder, path) = application(BOOT_4, &[TOMCAT_LIBRARY]);
        let made = compared(Compared::SpringBoot(path), |asked| {
            with_clients(asked, 400);
            let around = &mut asked.surroundings;
            if setting.starts_with("--") {
                around.args = Some(setting.to_owned());
            } else {
                around.jvm = vec![setting.to_owned()];
            }
        });
        assert_eq!(made.unwrap().variants.len(), 2, "{setting} overrides the variable");
    }
    assert_eq!(pool_of("undertow-core-2.3.18.Final.jar", 100_000, None), Some(100_000));
}

#[test]
fn a_limit_that_cannot_be_put_in_is_left_out_with_the_reason() {
    let (_folder, path) = application(BOOT_4, &["jetty-server-12.1.1.jar"]);
    let made = compared(Compared::SpringBoot(path), |asked| asked.surroundings.limit = Some(200)).unwrap();
    let skipped: Vec<Option<&str>> = made.variants.iter().map(|variant| variant.skipped.as_deref()).collect();
    assert_eq!(skipped, [None, None, Some("the limit is for Tomcat, and the application has Jetty inside")]);
}

#[test]
fn a_service_without_a_choice_of_threads_is_refused_with_what_to_write() {
    let refused = |version: &str, libraries: &[&str]| {
        let (_folder, path) = application(version, libraries);
        compared(Compared::SpringBoot(path), |_| {}).unwrap_err().to_string()
    };
    let ends_with = |message: String, why: &str| assert!(message.ends_with(why), "{message}");
    ends_with(
        refused("Main-Class: a.B", &[]),
        "app.jar: it is not the runnable jar of a Spring Boot application",
    );
    ends_with(
        refused("Spring-Boot-Version: 3.1.12", &[TOMCAT_LIBRARY]),
        "Spring Boot 3.1.12 has no spring.threads.virtual.enabled",
    );
    ends_with(
        refused(BOOT_4, &["reactor-netty-http-1.3.7.jar"]),
        "it has Netty inside, whose threads the property does not change",
    );
    let (_folder, path) = application(BOOT_4, &[TOMCAT_LIBRARY]);
    let with = |change: fn(&mut CompareAsked)| {
        compared(Compared::SpringBoot(path.clone()), change).unwrap_err().to_string()
    };
    ends_with(
        with(|asked| asked.surroundings.jdks = vec![17, 25]),
        "--jdk 17: virtual threads need Java 21 or newer",
    );
    let url = "http://127.0.0.1:8080/orders/1".to_owned();
    let says = with(|asked| asked.url = "http://127.0.0.1:8080/orders/1".to_owned());
    assert!(says.starts_with(&format!("--url {url}: with --spring-boot it is a path")), "{says}");
}

#[test]
fn a_port_that_is_chosen_in_another_place_is_refused_with_its_flag() {
    let (_folder, path) = application(BOOT_4, &[TOMCAT_LIBRARY]);
    let with = |args: Option<&str>, jvm: &str| {
        compared(Compared::SpringBoot(path.clone()), |asked| {
            asked.surroundings.args = args.map(str::to_owned);
            asked.surroundings.jvm = vec![jvm.to_owned()];
        })
    };
    let refused = |args, jvm| with(args, jvm).unwrap_err().to_string();
    let says = refused(Some("--debug --server.port=8080"), "-Xmx64m");
    assert!(
        says.starts_with("--args --server.port=8080: the port is not this setting's to choose"),
        "{says}"
    );
    assert!(refused(None, "-Dserver.port=8080").starts_with("--jvm -Dserver.port=8080: "));
    for fine in ["--server.port={port}", "--server.port.other=1", "--management.server.port=8081"] {
        assert!(with(Some(fine), "-Xmx64m").is_ok(), "{fine}");
    }
}

#[test]
fn a_first_answer_is_planned_within_the_budget_even_where_every_warm_up_takes_as_long_as_it_may() {
    let (_folder, path) = application(BOOT_4, &[TOMCAT_LIBRARY]);
    let made = compared(Compared::SpringBoot(path), |asked| {
        asked.load.duration_s = Some(5.0);
        asked.budget_s = Some(300.0);
    });
    let made = made.unwrap();
    let planned = [estimate_s(&made), longest_estimate_s(&made)].map(|it| it.unwrap());
    assert!(planned.iter().all(|seconds| *seconds <= 300.0), "{planned:?}");
    let first_round_s = estimate_s(&Experiment { budget_s: Some(0.0), ..made }).unwrap();
    assert!(first_round_s <= 170.0, "ten seconds more for each start leave time for more: {first_round_s}");
}

#[test]
fn a_web_application_runs_on_a_tomcat_of_ours_in_each_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.war");
    std::fs::write(&path, jar(&[("WEB-INF/web.xml", b"<web-app/>")])).unwrap();
    let threads_with = |clients: u32, limit: Option<u32>| {
        let made = compared(Compared::War(path.clone()), |asked| {
            asked.surroundings.jdks = vec![25];
            asked.surroundings.limit = limit;
            with_clients(asked, clients);
        });
        let made = made.unwrap();
        assert!(made.variants.iter().all(|it| it.jdk == Some(25)));
        made.variants.iter().filter_map(|it| it.server()?.threads().cloned()).collect::<Vec<Threads>>()
    };
    let [own, sized] = [PoolSize::Default, PoolSize::Clients].map(Threads::Platform);
    let limit = RequestLimit { max_concurrent: 150, max_queue: 1_000, queue_timeout_ms: 1_000 };
    let bounded = Threads::Executor(DropIn::BoundedVirtual(limit));
    assert_eq!(threads_with(200, None), [own.clone(), Threads::Virtual]);
    assert_eq!(threads_with(400, Some(150)), [own, Threads::Virtual, sized, bounded]);
    let refused = |change: fn(&mut CompareAsked)| {
        compared(Compared::War(path.clone()), change).unwrap_err().to_string()
    };
    assert_eq!(refused(|it| it.surroundings.args = Some("x".into())), "--args has no effect with --war");
    assert_eq!(refused(|it| it.ready = Some("/health".into())), "--health has no effect with --war");
    let missing = compared(Compared::War("/nowhere/x.war".into()), |_| {}).unwrap_err().to_string();
    assert_eq!(missing, "--war /nowhere/x.war: there is no such file with the ending .war");
}
