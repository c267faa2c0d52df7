//! Tells whether a method belongs to the JDK, a server, another library or the application.

use std::sync::LazyLock;

/// The file of the probe, so that it and the diagnosis name the same line of a stack.
const FILE: &str = include_str!("libraries.txt");

static JDK: LazyLock<Vec<&str>> = LazyLock::new(|| section("jdk"));
static SERVERS: LazyLock<Vec<&str>> = LazyLock::new(|| section("servers"));
static LIBRARIES: LazyLock<Vec<&str>> = LazyLock::new(|| section("libraries"));
static SAMPLES: LazyLock<Vec<&str>> = LazyLock::new(|| section("samples"));

/// Whether it is the JDK's.
pub(crate) fn is_jdk(method: &str) -> bool {
    begins_like(method, &JDK)
}

/// Whether a method, with its class, is neither the JDK's nor a library's.
pub(crate) fn is_application(method: &str) -> bool {
    let is_library = [&JDK, &SERVERS, &LIBRARIES].into_iter().any(|it| begins_like(method, it));
    // What the JDK makes for an interface is the code of neither.
    !is_library && !method.contains("$Proxy") || begins_like(method, &SAMPLES)
}

/// Whether its class is of a server: below the application's frames it has called for a request.
pub(crate) fn is_server(method: &str) -> bool {
    begins_like(method, &SERVERS)
}

fn begins_like(method: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| method.starts_with(prefix))
}

fn section(name: &str) -> Vec<&'static str> {
    let has_name = |text: &'static str| text.strip_prefix(name)?.strip_prefix("]\n");
    let lines = FILE.split('[').find_map(has_name).unwrap_or_default().lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_file_is_the_name_of_a_package() {
        for prefixes in [&JDK, &SERVERS, &LIBRARIES, &SAMPLES] {
            assert!(!prefixes.is_empty());
            for prefix in prefixes.iter() {
                assert!(prefix.ends_with('.') && !prefix.contains([' ', '[', ']']), "{prefix}");
            }
        }
        let all = JDK.len() + SERVERS.len() + LIBRARIES.len() + SAMPLES.len();
        assert_eq!(FILE.lines().filter(|it| it.ends_with('.') && !it.starts_with('#')).count(), all);
    }

    #[test]
    fn a_server_is_a_library_and_a_client_in_a_package_beside_it_is_no_server() {
        assert!(is_server("org.springframework.web.servlet.DispatcherServlet.doDispatch"));
        assert!(!is_application("org.springframework.web.servlet.DispatcherServlet.doDispatch"));
        assert!(!is_server("org.springframework.kafka.listener.Container.run"));
        assert!(!is_application("org.springframework.kafka.listener.Container.run"));
        assert!(is_application("org.springframework.samples.petclinic.Owner.find"));
        assert!(is_application("org.springframeworkish.Owner.find"));
    }
}
