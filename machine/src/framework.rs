//! Detects the framework of an application's runnable jar, if the framework determines the kind of thread without a property.

use super::jar_file::JarFile;
use std::io;
use std::path::Path;

/// A framework that fixes the kind of thread itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum Framework {
    Quarkus,
    Helidon,
}

impl Framework {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quarkus => "Quarkus",
            Self::Helidon => "Helidon",
        }
    }

    /// The framework of a jar; `None` if it is neither.
    ///
    /// # Errors
    /// The jar cannot be read.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        let mut jar = JarFile::open(path)?;
        let attribute = |jar: &mut JarFile, name| jar.attribute(name).map(Option::unwrap_or_default);
        let (main, class_path) = (attribute(&mut jar, "Main-Class")?, attribute(&mut jar, "Class-Path")?);
        // Helidon 4 introduced this class; earlier versions used Netty, without virtual threads.
        let has_server =
            jar.has("io/helidon/webserver/http/HttpRouting.class") || class_path.split(' ').any(is_server);
        Ok(match () {
            () if main.starts_with("io.quarkus.") => Some(Self::Quarkus),
            () if has_server => Some(Self::Helidon),
            () => None,
        })
    }
}

/// Whether the library is `libs/helidon-webserver-4.2.3.jar`, or of another Helidon from version 4 on.
fn is_server(library: &str) -> bool {
    let version = library.rsplit('/').next().and_then(|name| name.strip_prefix("helidon-webserver-"));
    let line = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    line.is_some_and(|line| line >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::jar;

    fn framework(manifest: &str, file: &str) -> Option<Framework> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.jar");
        std::fs::write(&path, jar(&[("META-INF/MANIFEST.MF", manifest.as_bytes()), (file, b"x")])).unwrap();
        Framework::of(&path).unwrap()
    }

    #[test]
    fn a_jar_says_what_starts_it_and_what_it_needs() {
        assert_eq!(
            framework("Main-Class: io.quarkus.bootstrap.runner.QuarkusEntryPoint\n", "a"),
            Some(Framework::Quarkus)
        );
        assert_eq!(framework("Main-Class: io.quarkus.runner.GeneratedMain\n", "a"), Some(Framework::Quarkus));
        let thin = "Main-Class: shop.Main\nClass-Path: libs/helidon-web\n server-4.2.3.jar libs/a.jar\n";
        assert_eq!(framework(thin, "a"), Some(Framework::Helidon));
        let old = "Main-Class: shop.Main\nClass-Path: libs/helidon-webserver-3.2.1.jar libs/helidon-webserver-cors-4.2.3.jar\n";
        assert_eq!(framework(old, "io/helidon/webserver/WebServer.class"), None);
        assert_eq!(
            framework("Main-Class: shop.Main\n", "io/helidon/webserver/http/HttpRouting.class"),
            Some(Framework::Helidon)
        );
        assert_eq!(
            framework("Main-Class: shop.Main\nClass-Path: libs/helidon-webclient-4.2.3.jar\n", "a"),
            None
        );
    }
}
