//! The Java of a running JVM, from its performance data or from its own answer. The program that started the JVM is never run: the owner of
//! the process owns that program, and we may be root. It may also have been replaced since, or lie in another root folder.

use crate::attach::{self, JvmProcess};
use crate::java_version::{JavaVersion, RuntimeProperties};
use crate::perf_data::PerfData;
use crate::process_tree::ProcessTree;
use std::time::Duration;

/// A JVM answers within milliseconds. A JVM that does not is inspected without its version.
const LIMIT: Duration = Duration::from_secs(2);

/// The Java of a JVM; `None` if it keeps no performance data (`-XX:-UsePerfData`), and does not answer.
#[must_use]
pub fn java_of(jvm: &JvmProcess) -> Option<JavaVersion> {
    in_performance_data(jvm.pid).or_else(|| answered(jvm))
}

/// The Java of the JVM in a process tree; `None` if there is no JVM, or it reveals no version.
#[must_use]
pub fn java_below(pid: u32) -> Option<JavaVersion> {
    let pid = ProcessTree::rooted_at(pid).java_pid()?;
    in_performance_data(pid).or_else(|| answered(&JvmProcess::find(pid).ok()?))
}

fn answered(jvm: &JvmProcess) -> Option<JavaVersion> {
    let answer = attach::command(jvm, "properties", ["", "", ""], LIMIT).ok()?;
    RuntimeProperties::in_lines(&answer, "=").java_version()
}

fn in_performance_data(pid: u32) -> Option<JavaVersion> {
    let data = PerfData::read(pid)?;
    let text = |name| data.text(name).filter(|it| !it.is_empty());
    let version = text("java.property.java.version");
    // Since Java 9 the JVM's version is that of its runtime; before, it had a numbering of its own (`25.402-b06`).
    let is_of_runtime =
        |it: &String| version.as_ref().is_some_and(|version| it.starts_with(version.as_str()));
    let properties = RuntimeProperties {
        runtime_version: text("java.property.java.vm.version").filter(is_of_runtime),
        vendor: text("java.property.java.vm.vendor"),
        version,
    };
    properties.java_version()
}
