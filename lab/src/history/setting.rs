//! Translates the path of a setting (of a load, server or machine) and its value into words and units for people.

use threadcount_model::figures;

/// Parts of a path that name a structure rather than the setting.
const STRUCTURE: [&str; 7] = ["kind", "closed", "open", "benchmark", "capacity", "sending", "server"];
/// How the names of settings end, and the unit behind their values.
const UNITS: [(&str, &str); 3] = [("_per_s", "/s"), ("_ms", " ms"), ("_s", " s")];
const BYTES: &str = "_bytes";

/// Translates `kind.closed.clients` to `clients`, and `sending.timeout_s` to `timeout`. An environment variable keeps its path.
pub(super) fn name(path: &str) -> String {
    if path.starts_with("env.") {
        return path.to_owned();
    }
    if path == "kind.open.clients" {
        return "connections".to_owned();
    }
    let mut words: Vec<&str> = path.split('.').filter(|part| !STRUCTURE.contains(part)).collect();
    words.dedup();
    let joined = words.join(" ");
    let suffix =
        UNITS.iter().map(|&(suffix, _)| suffix).chain([BYTES]).find(|suffix| joined.ends_with(suffix));
    joined.strip_suffix(suffix.unwrap_or_default()).unwrap_or(&joined).replace('_', " ")
}

/// Translates `5.0` of `timeout_s` to `5 s`. Texts and versions stay as they are.
pub(super) fn value(path: &str, text: &str) -> String {
    let Some(number) = text.parse::<f64>().ok().filter(|_| !path.starts_with("env.")) else {
        return text.to_owned();
    };
    if path.ends_with(BYTES) {
        return figures::memory(number);
    }
    if let Some((_, unit)) = UNITS.iter().find(|(suffix, _)| path.ends_with(suffix)) {
        return format!("{}{unit}", figures::plain(number));
    }
    text.parse().map_or_else(|_| text.to_owned(), figures::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_the_name_that_people_use_and_its_unit() {
        let words = |path: &str, text: &str| format!("{}: {}", name(path), value(path, text));
        assert_eq!(words("kind.closed.clients", "1000"), "clients: 1,000");
        assert_eq!(words("kind.open.clients", "64"), "connections: 64");
        assert_eq!(words("kind.open.rate_per_s", "5000.0"), "rate: 5,000/s");
        assert_eq!(words("kind.capacity.limit_ms", "200.0"), "limit: 200 ms");
        assert_eq!(words("duration_s", "2.5"), "duration: 2.50 s");
        assert_eq!(words("sending.connect_timeout_s", "10.0"), "connect timeout: 10 s");
        assert_eq!(words("request.path", "/thread-info"), "request path: /thread-info");
        assert_eq!(words("memory_bytes", "8350000000"), "memory: 8.35 GB");
        assert_eq!(words("keep_alive", "false"), "keep alive: false");
    }

    #[test]
    fn a_server_keeps_its_version_and_its_environment_as_they_are_written() {
        let words = |path: &str, text: &str| format!("{}: {}", name(path), value(path, text));
        assert_eq!(words("server.tomcat.version", "11.0"), "tomcat version: 11.0");
        assert_eq!(words("server.command.command", "java -jar a.jar"), "command: java -jar a.jar");
        assert_eq!(words("jdk", "25"), "jdk: 25");
        assert_eq!(words("env.MAX_WAIT_s", "1500"), "env.MAX_WAIT_s: 1500");
    }
}
