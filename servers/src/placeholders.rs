//! Placeholders in braces in a command, its arguments, its JVM flags and its environment.

use std::fs::File;
use std::io::{self, Read};

/// The server's own port.
pub const PORT: &str = "{port}";

/// The base URL of the only backend, or of the backend named `backend`.
pub const BACKEND: &str = "{backend}";

/// A random text for each run, e.g. the password of a database that exists as long as the run.
pub const SECRET: &str = "{secret}";

/// The suffixes that may follow the name of a backend: `{database.port}`.
const PARTS: [&str; 2] = [".port", ".url"];

/// The address on which a backend listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackendAddress {
    pub name: String,
    pub port: u16,
    /// The base URL.
    pub url: String,
}

/// The values of the placeholders.
#[derive(Clone, Copy, Debug)]
pub struct Placeholders<'a> {
    pub port: u16,
    /// The backends that are already running.
    pub backends: &'a [BackendAddress],
    pub secret: &'a str,
}

impl Placeholders<'_> {
    /// The text with all placeholders filled in.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut filled = text.replace(PORT, &self.port.to_string()).replace(SECRET, self.secret);
        if let Some(only) = self.only_backend() {
            filled = filled.replace(BACKEND, &only.url);
        }
        for BackendAddress { name, port, url } in self.backends {
            filled = filled.replace(&format!("{{{name}.port}}"), &port.to_string());
            filled = filled.replace(&format!("{{{name}.url}}"), url);
        }
        filled
    }

    /// The text with the secret replaced by its placeholder, so that no result contains the secret.
    #[must_use]
    pub fn without_secret(&self, text: &str) -> String {
        if self.secret.is_empty() { text.to_owned() } else { text.replace(self.secret, SECRET) }
    }

    fn only_backend(&self) -> Option<&BackendAddress> {
        let named = self.backends.iter().find(|backend| backend.name == BACKEND.trim_matches(['{', '}']));
        named.or(match self.backends {
            [only] => Some(only),
            _ => None,
        })
    }
}

/// The first placeholder, e.g. `{databse.port}`, whose backend is not among these names.
#[must_use]
pub fn unknown_backend<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    let inner = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let name = |inner: &&'a str| PARTS.iter().find_map(|part| inner.strip_suffix(part)).unwrap_or_default();
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || "._-".contains(it))
    };
    let mut named = inner.filter(|inner| is_name(name(inner)));
    named.find(|inner| !names.contains(&name(inner)))
}

/// A secret for one run, in hexadecimal.
///
/// # Errors
/// When the system provides no random bytes.
pub fn new_secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(name: &str, port: u16) -> BackendAddress {
        BackendAddress { name: name.to_owned(), port, url: format!("http://127.0.0.1:{port}") }
    }

    #[test]
    fn each_backend_has_its_port_and_its_url() {
        let backends = [address("database", 5432), address("neighbour", 8081)];
        let placeholders = Placeholders { port: 80, backends: &backends, secret: "5ec" };
        let filled =
            placeholders.text("{port} {database.port} {neighbour.url}/x {secret} {backend} {other.port}");
        assert_eq!(filled, "80 5432 http://127.0.0.1:8081/x 5ec {backend} {other.port}");
        assert_eq!(placeholders.without_secret("PASSWORD=5ec"), "PASSWORD={secret}");
    }

    #[test]
    fn a_single_backend_is_the_backend_whatever_its_name_and_one_of_that_name_is_it_among_others() {
        let single = [address("database", 1)];
        let text = |backends| Placeholders { port: 80, backends, secret: "" }.text("{backend}");
        assert_eq!(text(&single), "http://127.0.0.1:1");
        assert_eq!(text(&[address("database", 1), address("backend", 2)]), "http://127.0.0.1:2");
    }

    #[test]
    fn a_placeholder_of_no_backend_is_found() {
        let unknown = |text| unknown_backend(text, &["database"]);
        assert_eq!(unknown("x {port} {database.port} {databse.url}"), Some("databse.url"));
        assert_eq!(unknown("x {port} {database.port} {\"a\": 1} {.port} {rand:1:2}"), None);
    }

    #[test]
    fn secrets_differ() {
        let (one, other) = (new_secret().unwrap(), new_secret().unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}
