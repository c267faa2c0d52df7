//! A Java that Threadcount supports only in part.

use crate::java::jdk;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use threadcount_machine::jdk::Jdk;

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
