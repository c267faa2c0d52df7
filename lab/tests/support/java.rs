//! The Java parts that tests need. `./dev test` installs and builds all of them, so a missing part fails the test.

use threadcount_machine::app;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jdk_finder::Places;
use threadcount_machine::probe::jar;

/// The flags for a JVM that lives for some seconds in a test. With the first compiler alone it costs half the CPU.
pub fn flags(heap: &str) -> Vec<String> {
    [heap, "-XX:TieredStopAtLevel=1"].map(str::to_owned).to_vec()
}

/// Fails if the web application `servlets` or the probe is not built.
pub fn servlets_and_probe() {
    app::find("servlets").unwrap_or_else(|error| panic!("{error}; `./dev test` builds it"));
    probe();
}

/// Fails if the probe is not built.
pub fn probe() {
    jar::find().unwrap_or_else(|error| panic!("{error}; `./dev test` builds it"));
}

/// A Java runtime of this version.
pub fn runtime(feature: u16) -> Jdk {
    let found = Places::of_this_machine().find();
    let jdk = found.iter().find(|it| it.feature == feature);
    jdk.unwrap_or_else(|| panic!("there is no Java {feature} here; `./dev test` needs it")).clone()
}

/// A JDK 25 with compiler and `jcmd`.
pub fn jdk() -> Jdk {
    let found = Places::of_this_machine().find();
    let jdk = found.iter().find(|it| it.feature == 25 && it.has_javac && it.has_jcmd);
    jdk.expect("there is no JDK 25 here; `./dev test` needs it").clone()
}
