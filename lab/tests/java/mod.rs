//! What tests need from the JVM side. `./dev test` installs and builds all of it, so what is missing fails the test.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use threadcount_machine::app;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jdk_finder::Places;
use threadcount_machine::probe::jar;

/// Of a JVM that lives for some seconds in a test: with the first compiler alone it costs half the CPU.
pub fn flags(heap: &str) -> Vec<String> {
    [heap, "-XX:TieredStopAtLevel=1"].map(str::to_owned).to_vec()
}

/// The web application `servlets` and the probe are built.
pub fn servlets_and_probe() {
    app::find("servlets").unwrap_or_else(|error| panic!("{error}; `./dev test` builds it"));
    probe();
}

/// The probe is built.
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

/// A JDK that runs and calls itself Java 17, made of the JDK 25: links, but for the files by whose place a JVM is found,
/// and for the one that says its version.
pub fn jdk_that_says_17(folder: &Path) -> Jdk {
    let (real, home) = (jdk().home, folder.join("jdk-17"));
    for (inner, copied) in [("", "release"), ("bin", "java"), ("lib", ""), ("lib/server", "libjvm.so")] {
        fs::create_dir_all(home.join(inner)).unwrap();
        for entry in fs::read_dir(real.join(inner)).unwrap().map(Result::unwrap) {
            let (from, to) = (entry.path(), home.join(inner).join(entry.file_name()));
            let is_made_here = ["bin", "lib", "server"].iter().any(|it| entry.file_name() == *it);
            if entry.file_name() == copied {
                fs::copy(from, to).unwrap();
            } else if !is_made_here {
                symlink(from, to).unwrap();
            }
        }
    }
    let release = "JAVA_VERSION=\"17.0.1\"\nJAVA_RUNTIME_VERSION=\"17.0.1+1\"\nIMPLEMENTOR=\"A test\"\n";
    fs::write(home.join("release"), release).unwrap();
    Jdk::at(&home, "a test").unwrap()
}
