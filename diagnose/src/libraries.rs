//! Tells whether a method belongs to the JDK, a server, another library or the application.

use std::sync::LazyLock;

/// The list of packages, which the probe reads too, so that both name the same line of a stack.
const FILE: &str = include_str!("libraries.txt");

static JDK: LazyLock<Vec<&str>> = LazyLock::new(|| prefixes(&["jdk"]));
static SERVERS: LazyLock<Vec<&str>> = LazyLock::new(|| prefixes(&["servers"]));
static LIBRARIES: LazyLock<Vec<&str>> = LazyLock::new(|| prefixes(&["jdk", "servers", "libraries"]));
static SAMPLES: LazyLock<Vec<&str>> = LazyLock::new(|| prefixes(&["samples"]));
/// The probe's packages. The file leaves them out, because the programs of the probe's tests are in them and count as applications there.
const PROBE: [&str; 2] = ["dev.threadcount.agent.", "dev.threadcount.probe."];

/// The owner of a method's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Jdk,
    Library,
    Application,
}

/// The owner of a method, given with its class.
pub(crate) fn owner(method: &str) -> Owner {
    if is_application(method) {
        Owner::Application
    } else if begins_like(method, &JDK) {
        Owner::Jdk
    } else {
        Owner::Library
    }
}

/// Whether a method, with its class, is neither the JDK's nor a library's.
pub(crate) fn is_application(method: &str) -> bool {
    // A proxy class that the JDK makes for an interface belongs to neither.
    !begins_like(method, &LIBRARIES) && !begins_like(method, &PROBE) && !method.contains("$Proxy")
        || begins_like(method, &SAMPLES)
}

/// Whether the method belongs to a server: below the application's frames it shows that the server has called for a request.
pub(crate) fn is_server(method: &str) -> bool {
    begins_like(method, &SERVERS)
}

/// Whether the method begins with one of the prefixes. They are sorted and none begins like another, so only the last one that is not after
/// the method can be its beginning.
fn begins_like(method: &str, prefixes: &[&str]) -> bool {
    let behind = prefixes.partition_point(|prefix| *prefix <= method);
    behind.checked_sub(1).is_some_and(|at| method.starts_with(prefixes[at]))
}

fn prefixes(sections: &[&str]) -> Vec<&'static str> {
    let mut all: Vec<&str> = sections.iter().flat_map(|name| section(name)).collect();
    all.sort_unstable();
    all.dedup_by(|longer, kept| longer.starts_with(*kept));
    all
}

fn section(name: &str) -> impl Iterator<Item = &'static str> {
    let has_name = |text: &'static str| text.strip_prefix(name)?.strip_prefix("]\n");
    let lines = FILE.split('[').find_map(has_name).unwrap_or_default().lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_file_is_the_name_of_a_package() {
        let all: Vec<&str> =
            ["jdk", "servers", "libraries", "samples"].into_iter().flat_map(section).collect();
        for prefix in &all {
            assert!(prefix.ends_with('.') && !prefix.contains([' ', '[', ']']), "{prefix}");
            let is_sample = section("samples").any(|sample| prefix.starts_with(sample));
            assert_eq!(is_application(&format!("{prefix}X.y")), is_sample, "{prefix}");
        }
        assert_eq!(FILE.lines().filter(|it| it.ends_with('.') && !it.starts_with('#')).count(), all.len());
    }

    #[test]
    fn a_server_is_a_library_and_a_client_in_a_package_beside_it_is_no_server() {
        assert!(is_server("org.springframework.web.servlet.DispatcherServlet.doDispatch"));
        assert!(!is_application("org.springframework.web.servlet.DispatcherServlet.doDispatch"));
        assert!(!is_server("org.springframework.kafka.listener.Container.run"));
        assert!(!is_application("org.springframework.kafka.listener.Container.run"));
        assert!(is_application("org.springframework.samples.petclinic.Owner.find"));
        assert!(is_application("org.springframeworkish.Owner.find"));
        assert!(!is_application("dev.threadcount.probe.Probe.snapshotLocks"));
        assert!(!is_application("dev.threadcount.agent.Agent.agentmain"));
        assert!(is_application("dev.threadcount.servlets.Sleep.blockThisThread"));
    }
}
