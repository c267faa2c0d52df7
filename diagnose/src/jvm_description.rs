//! Describes a JVM without its command line and its properties, because they may contain passwords.

use serde::Serialize;
use threadcount_machine::perf_data::PerfData;

const COLLECTORS: std::ops::Range<u32> = 0..4;

/// The facts about a JVM that an issue tracker asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JvmDescription {
    /// The first line of a thread dump: `OpenJDK 64-Bit Server VM (21.0.8+9-LTS mixed mode, sharing)`.
    pub vm: Option<String>,
    pub java_version: Option<String>,
    pub vendor: Option<String>,
    /// The names of the collectors, such as `G1 young collection pauses`.
    pub collectors: Vec<String>,
    /// The parallelism of the scheduler of virtual threads.
    pub parallelism: Option<usize>,
}

impl JvmDescription {
    /// Reads the description of a running JVM.
    pub(super) fn read(pid: u32, thread_print: &str, parallelism: Option<usize>) -> Self {
        let data = PerfData::read(pid);
        let text = |name: &str| data.as_ref().and_then(|data| data.text(name));
        Self::of(&text, thread_print, parallelism)
    }

    fn of(text: &dyn Fn(&str) -> Option<String>, thread_print: &str, parallelism: Option<usize>) -> Self {
        Self {
            vm: vm(thread_print),
            java_version: text("java.property.java.version"),
            vendor: text("java.property.java.vm.vendor"),
            collectors: COLLECTORS.filter_map(|at| text(&format!("sun.gc.collector.{at}.name"))).collect(),
            parallelism,
        }
    }
}

fn vm(thread_print: &str) -> Option<String> {
    let line = thread_print.lines().find_map(|line| line.strip_prefix("Full thread dump "))?;
    Some(line.trim_end_matches(':').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jvm_is_described_by_its_version_and_without_its_arguments() {
        let text = |name: &str| match name {
            "java.property.java.version" => Some("21.0.8".to_owned()),
            "sun.gc.collector.0.name" => Some("Copy".to_owned()),
            "sun.rt.javaCommand" | "java.rt.vmArgs" => Some("-Dpassword=secret".to_owned()),
            _ => None,
        };
        let print = "4711:\n2026-01-01 00:00:00\nFull thread dump OpenJDK 64-Bit Server VM (21.0.8+9-LTS mixed mode):\n\n";
        let jvm = JvmDescription::of(&text, print, Some(2));
        assert_eq!(jvm.vm.as_deref(), Some("OpenJDK 64-Bit Server VM (21.0.8+9-LTS mixed mode)"));
        assert_eq!((jvm.java_version.as_deref(), jvm.collectors.len()), (Some("21.0.8"), 1));
        assert!(!serde_json::to_string(&jvm).unwrap().contains("secret"));
        assert_eq!(JvmDescription::of(&|_| None, "", None), JvmDescription::default(), "no data");
    }
}
