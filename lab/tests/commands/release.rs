//! The parts of the program that a release needs: its manual, and what it says about itself. `./dev dist --try` tries the packages.

use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn threadcount(cache: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("threadcount"));
    command.args(arguments).env("XDG_CACHE_HOME", cache).env("NO_COLOR", "1").output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn each_command_has_a_man_page_without_a_warning() {
    let folder = TempDir::new().unwrap();
    printed(&threadcount(folder.path(), &["man-pages", folder.path().to_str().unwrap()]));
    for name in ["threadcount.1", "threadcount-run.1", "threadcount-load.1", "threadcount-self.1"] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    assert!(!folder.path().join("threadcount-man-pages.1").exists(), "what only a release needs is hidden");
    let pages = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path());
    let pages = pages.filter(|it| it.extension().is_some_and(|it| it == "1"));
    let lint = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).args(pages).output().unwrap();
    assert!(lint.status.success(), "{}", String::from_utf8_lossy(&lint.stdout));
}

#[test]
fn the_packages_are_made_as_their_formats_demand() {
    succeed_in("tools/dist");
}

#[test]
fn the_benchmarks_read_what_each_load_generator_prints() {
    succeed_in("bench");
}

/// Runs the tests of the Python code in this folder of the repository.
fn succeed_in(folder: &str) {
    let mut tests = Command::new("python3");
    tests.args(["-B", "-m", "unittest", "discover", "--start-directory", folder]);
    let output = tests.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn self_says_what_is_stored_and_removes_it() {
    let cache = TempDir::new().unwrap();
    let text = printed(&threadcount(cache.path(), &["self"]));
    assert!(text.starts_with(concat!("threadcount ", env!("CARGO_PKG_VERSION"))), "{text}");
    for part in ["stamps", "parts"] {
        assert!(text.lines().any(|line| line.starts_with(part)), "{part}: {text}");
    }
    let tomcat = cache.path().join("threadcount/tomcat/apache-tomcat-11.0.1");
    let jdk = cache.path().join("threadcount/jdks/a-jdk");
    fs::create_dir_all(tomcat.join("lib")).unwrap();
    fs::create_dir_all(&jdk).unwrap();
    fs::write(tomcat.join("lib/catalina.jar"), vec![0; 2_000_000]).unwrap();
    let older = cache.path().join("threadcount/parts/0.0.9-0123456789ab");
    fs::create_dir_all(&older).unwrap();
    let launcher = cache.path().join("threadcount/launcher");
    fs::create_dir(&launcher).unwrap();
    fs::write(launcher.join("threadcount-0123456789ab"), "").unwrap();
    let text = printed(&threadcount(cache.path(), &["self"]));
    assert!(text.contains("apache-tomcat-11.0.1 (downloaded)") && text.contains("2.0 MB"), "{text}");
    assert!(text.contains("0.0.9-0123456789ab (parts of another version or build)"), "{text}");
    assert!(text.contains("launcher (the program, unpacked by its jar)"), "{text}");
    let text = printed(&threadcount(cache.path(), &["self", "--remove"]));
    assert!(text.contains("removed") && [&tomcat, &older, &launcher].iter().all(|it| !it.exists()), "{text}");
    assert!(jdk.exists(), "a JDK is not ours");
}
