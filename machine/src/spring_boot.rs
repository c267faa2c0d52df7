//! Inspects the runnable jar of a Spring Boot application.

use super::jar_file::JarFile;
use std::io;
use std::path::Path;

/// The class that starts the application with more jars on its class path; since Spring Boot 3.2.
pub const PROPERTIES_LAUNCHER: &str = "org.springframework.boot.loader.launch.PropertiesLauncher";

/// A major and minor version.
type Line = (u32, u32);

/// The first version with `spring.threads.virtual.enabled`.
const FIRST_WITH_VIRTUAL_THREADS: Line = (3, 2);
/// The first version in which Undertow follows the property too.
const FIRST_WITH_UNDERTOW: Line = (3, 4);

/// The folder of the application's libraries.
const LIBRARIES: &str = "BOOT-INF/lib/";

/// A runnable jar built by Spring Boot's plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpringBootJar {
    /// The version of Spring Boot, such as `4.1.1`.
    pub version: String,
    /// The server; `None` if it contains no known one.
    pub server: Option<EmbeddedServer>,
    /// Whether jars can be added to its class path from outside.
    pub can_be_extended: bool,
}

/// The HTTP server in an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum EmbeddedServer {
    Tomcat,
    Jetty,
    Undertow,
    Netty,
}

impl EmbeddedServer {
    /// The libraries' names without version; servlet containers come first, because a servlet application may use Netty for its own calls.
    const LIBRARIES: [(&'static str, Self); 4] = [
        ("tomcat-embed-core-", Self::Tomcat),
        ("jetty-server-", Self::Jetty),
        ("undertow-core-", Self::Undertow),
        ("reactor-netty-http-", Self::Netty),
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tomcat => "Tomcat",
            Self::Jetty => "Jetty",
            Self::Undertow => "Undertow",
            Self::Netty => "Netty",
        }
    }
}

impl SpringBootJar {
    /// Reads a jar; `None` if Spring Boot did not build it.
    ///
    /// # Errors
    /// The jar cannot be read.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let mut jar = JarFile::open(path)?;
        let Some(version) = jar.attribute("Spring-Boot-Version")? else { return Ok(None) };
        let libraries: Vec<&str> = jar.names().filter_map(|name| name.strip_prefix(LIBRARIES)).collect();
        let has = |library: &str| libraries.iter().any(|it| it.starts_with(library));
        let server = EmbeddedServer::LIBRARIES.into_iter().find(|(library, _)| has(library));
        let server = server.map(|(_, server)| server);
        let launcher = PROPERTIES_LAUNCHER.replace('.', "/") + ".class";
        Ok(Some(Self { version, server, can_be_extended: jar.has(&launcher) }))
    }

    /// Whether this version has the property that enables virtual threads.
    #[must_use]
    pub fn knows_virtual_threads(&self) -> bool {
        self.line() >= FIRST_WITH_VIRTUAL_THREADS
    }

    /// Whether that property changes the threads of the application's server.
    #[must_use]
    pub fn changes_its_threads(&self) -> bool {
        self.knows_virtual_threads()
            && match self.server {
                Some(EmbeddedServer::Tomcat | EmbeddedServer::Jetty) => true,
                Some(EmbeddedServer::Undertow) => self.line() >= FIRST_WITH_UNDERTOW,
                Some(EmbeddedServer::Netty) | None => false,
            }
    }

    fn line(&self) -> Line {
        let mut numbers = self.version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
        (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::jar;

    fn read(version: &str, libraries: &[&str]) -> Option<SpringBootJar> {
        let manifest = format!("Manifest-Version: 1.0\n{version}\n");
        let names: Vec<String> = libraries.iter().map(|name| format!("BOOT-INF/lib/{name}")).collect();
        let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
        files.push(("META-INF/MANIFEST.MF", manifest.as_bytes()));
        files.push(("org/springframework/boot/loader/launch/PropertiesLauncher.class", b"x"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.jar");
        std::fs::write(&path, jar(&files)).unwrap();
        SpringBootJar::read(&path).unwrap()
    }

    #[test]
    fn version_and_server_are_in_the_jar() {
        let of = |libraries: &[&str]| read("Spring-Boot-Version: 4.1.1", libraries).unwrap().server;
        assert_eq!(of(&["tomcat-embed-core-11.0.24.jar"]), Some(EmbeddedServer::Tomcat));
        let with_client =
            ["reactor-netty-http-1.3.7.jar", "jetty-server-12.1.1.jar", "tomcat-embed-el-11.0.24.jar"];
        assert_eq!(of(&with_client), Some(EmbeddedServer::Jetty));
        assert_eq!(of(&["reactor-netty-http-1.3.7.jar"]), Some(EmbeddedServer::Netty));
        assert_eq!(of(&["my-tomcat-embed-core-1.jar"]), None);
        assert_eq!(read("Main-Class: a.B", &["tomcat-embed-core-11.0.24.jar"]), None, "another kind of jar");
    }

    #[test]
    fn virtual_threads_came_with_3_2() {
        for (version, expected) in
            [("3.1.12", false), ("2.7.18", false), ("3.2.0", true), ("3.10.0", true), ("4.0.0-M1", true)]
        {
            let jar = read(&format!("Spring-Boot-Version: {version}"), &[]).unwrap();
            assert_eq!((jar.knows_virtual_threads(), jar.can_be_extended), (expected, true), "{version}");
        }
    }

    #[test]
    fn the_property_does_not_change_every_server() {
        for (version, library, expected) in [
            ("3.2.0", "tomcat-embed-core-10.1.16.jar", true),
            ("3.2.0", "undertow-core-2.3.jar", false),
            ("3.4.0", "undertow-core-2.3.jar", true),
            ("4.1.1", "reactor-netty-http-1.3.7.jar", false),
            ("4.1.1", "other-1.jar", false),
        ] {
            let jar = read(&format!("Spring-Boot-Version: {version}"), &[library]).unwrap();
            assert_eq!(jar.changes_its_threads(), expected, "{version} {library}");
        }
    }
}
