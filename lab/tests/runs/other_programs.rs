//! Sessions that would continue with other programs than they began with.

use crate::result_folders::{DELAY_SERVER, done, experiment, threadcount};
use crate::{java, schema};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread::sleep;
use std::time::Duration;
use threadcount_machine::sample::{jdk_release, made_up_jdk};

/// In these tests the clock of a file counts in whole seconds.
const ONE_TICK: Duration = Duration::from_millis(1_100);

#[test]
fn a_session_whose_server_was_built_again_does_not_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    let script = format!("#!/bin/sh\nexec python3 {DELAY_SERVER} \"$1\" 5\n");
    let build = || {
        fs::write(&program, &script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    };
    build();
    let text = fs::read_to_string(experiment(&folder, 1)).unwrap();
    let python = format!("python3 {DELAY_SERVER} {{port}} 5");
    let text = text.replace(&python, &format!("{} {{port}}", program.display()));
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    sleep(ONE_TICK);
    done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"], 0);
    done(&folder, &["run", "--resume", "here"], 0);
    sleep(ONE_TICK);
    build();
    let printed = done(&folder, &["run", "--resume", "here"], 2);
    assert!(printed.contains("server: it was changed after the first run began"), "{printed}");
}

/// A jar, named relative to the folder in which its server starts, before and after it was built again. The same for a jar of a backend.
#[test]
fn a_session_whose_jar_was_built_again_does_not_go_on_wherever_its_server_starts() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let server = format!("python3 {DELAY_SERVER} {{port}} 5 1000000");
    for (name, variant) in [
        ("own", format!("{{command: \"{server} -cp a.jar:lib.jar\", workdir: elsewhere}}")),
        (
            "behind",
            format!(
                "{{command: \"{server}\", backends: {{shop: {{command: \"{server} elsewhere/lib.jar\"}}}}}}"
            ),
        ),
    ] {
        fs::write(elsewhere.join("lib.jar"), "first").unwrap();
        let text = format!(
            "question: q\nrequest: /\nwarmup: 0s\nruns: 1\nvariants: {{a: {variant}}}\n\
             loads: [{{clients: 2, requests: 40}}]\n"
        );
        fs::write(folder.path().join("mine.yaml"), text).unwrap();
        sleep(ONE_TICK);
        done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", name], 0);
        done(&folder, &["run", "--resume", name], 0);
        sleep(ONE_TICK);
        fs::write(elsewhere.join("lib.jar"), "second").unwrap();
        let printed = done(&folder, &["run", "--resume", name], 2);
        assert!(printed.contains("lib.jar: it was changed after the first run began"), "{name}: {printed}");
    }
}

/// Each session builds the peer, and its server writes into its own folders.
#[test]
fn a_session_goes_on_with_a_peer_that_is_built_again_and_not_with_other_sources_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let peer = folder.path().join("peer");
    fs::create_dir_all(peer.join("src")).unwrap();
    let source = peer.join("src/server.py");
    fs::copy(DELAY_SERVER, &source).unwrap();
    for (name, script) in [
        ("build", "mkdir -p target && cp src/server.py target/server.py"),
        ("run", "mkdir -p cache && date >cache/started && exec python3 target/server.py \"$1\" 5"),
    ] {
        fs::write(peer.join(name), format!("#!/bin/sh\ncd \"${{0%/*}}\"\n{script}\n")).unwrap();
        fs::set_permissions(peer.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text = "question: q\nrequest: /\nwarmup: 0s\nruns: 1\nvariants: {a: {server: {peer: ./peer}}}\n\
        loads: [{clients: 2, requests: 40}]\n";
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    sleep(ONE_TICK);
    done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"], 0);
    sleep(ONE_TICK);
    let build = std::process::Command::new(peer.join("build")).status().unwrap();
    assert!(build.success());
    done(&folder, &["run", "--resume", "here"], 0);
    fs::copy(DELAY_SERVER, &source).unwrap();
    let printed = done(&folder, &["run", "--resume", "here"], 2);
    assert!(printed.contains("server.py: it was changed after the first run began"), "{printed}");
}

/// A server of the JDK itself. The path of `java` later leads to another runtime, as after an update.
#[test]
fn a_session_whose_java_was_updated_does_not_go_on_and_says_from_which_version() {
    let folder = tempfile::tempdir().unwrap();
    let (link, jdk) = (folder.path().join("java-home"), java::jdk());
    symlink(&jdk.home, &link).unwrap();
    // It does not serve a folder whose name is hidden.
    let served = folder.path().join("served");
    fs::create_dir(&served).unwrap();
    fs::write(served.join("page"), "hi").unwrap();
    let server = format!(
        "{}/bin/java -m jdk.httpserver -b 127.0.0.1 -p {{port}} -d {}",
        link.display(),
        served.display()
    );
    let text = format!(
        "question: q\nrequest: /page\nwarmup: 0s\nruns: 1\nvariants: {{a: {{command: \"{server}\"}}}}\n\
         loads: [{{clients: 2, requests: 40}}]\n"
    );
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    done(&folder, &["run", "./mine.yaml", "--no-probe", "--no-jvm-log", "--out", "here"], 0);
    let document = schema::result_file(&folder.path().join("here"));
    assert_eq!(document["records"][0]["server"]["java"], jdk.describe());
    done(&folder, &["run", "--resume", "here"], 0);
    let updated = folder.path().join("updated");
    made_up_jdk(&updated, Some(&jdk_release("99.0.1+2")), &[("java", "exit 1")]);
    fs::remove_file(&link).unwrap();
    symlink(&updated, &link).unwrap();
    let printed = done(&folder, &["run", "--resume", "here"], 2);
    assert!(printed.contains(&format!("Java of a: {}, now 99.0.1+2 (Maker)", jdk.describe())), "{printed}");
}

/// `jdk:` means the newest build of a version.
#[test]
fn a_session_for_which_another_java_would_be_chosen_does_not_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("jdk");
    let script = format!("exec python3 {DELAY_SERVER} \"$1\" 5");
    let install = |version: &str| made_up_jdk(&home, Some(&jdk_release(version)), &[("java", &script)]);
    install("99.0.1+2");
    let text = "question: q\nrequest: /\nwarmup: 0s\nruns: 1\njdk: 99\n\
        variants: {a: {command: \"java {port}\"}}\nloads: [{clients: 2, requests: 40}]\n";
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    let done = |words: &[&str], code: i32| {
        let output = threadcount(&folder, words).env("JAVA_HOME", &home).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}\n{printed}");
        printed
    };
    done(&["run", "./mine.yaml", "--no-probe", "--no-jvm-log", "--out", "here"], 0);
    install("99.0.2+1");
    let printed = done(&["run", "--resume", "here"], 2);
    assert!(printed.contains("Java of a: 99.0.1+2 (Maker), now 99.0.2+1 (Maker)"), "{printed}");
}

#[test]
fn a_session_whose_jvm_was_built_again_does_not_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("jdk");
    let script = format!("exec python3 {DELAY_SERVER} \"$1\" 5");
    made_up_jdk(&home, Some(&jdk_release("99-internal")), &[("java", &script)]);
    let library = home.join("lib/server/libjvm.so");
    fs::create_dir_all(library.parent().unwrap()).unwrap();
    fs::write(&library, "first").unwrap();
    let text = format!(
        "question: q\nrequest: /\nwarmup: 0s\nruns: 1\n\
         variants: {{a: {{command: \"{}/bin/java {{port}}\"}}}}\nloads: [{{clients: 2, requests: 40}}]\n",
        home.display()
    );
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    sleep(ONE_TICK);
    done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"], 0);
    done(&folder, &["run", "--resume", "here"], 0);
    sleep(ONE_TICK);
    fs::write(&library, "second").unwrap();
    let printed = done(&folder, &["run", "--resume", "here"], 2);
    assert!(printed.contains("libjvm.so: it was changed after the first run began"), "{printed}");
}
