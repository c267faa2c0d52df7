//! The `CATALINA_BASE` of a single run, and the command line that starts Tomcat in it.

use super::server_xml::Connector;
use crate::base_folder::{BaseError, BaseFolder};
use crate::command_line::ServerCommand;
use crate::distribution::Distribution;
use std::path::{Path, PathBuf};
use threadcount_machine::jdk::Jdk;

/// Tomcat's logging configuration: everything goes to the console, which is the log of the run.
const LOGGING: &str = "handlers = java.util.logging.ConsoleHandler
.handlers = java.util.logging.ConsoleHandler
java.util.logging.ConsoleHandler.level = INFO
java.util.logging.ConsoleHandler.formatter = org.apache.juli.OneLineFormatter
java.util.logging.ConsoleHandler.encoding = UTF-8
";

/// The packages that `catalina.sh` opens for Tomcat's leak detection.
const OPENED: [&str; 6] =
    ["java.lang", "java.lang.reflect", "java.io", "java.util", "java.util.concurrent", "sun.rmi.transport"];

/// A folder with Tomcat's configuration and one web application as ROOT; removed when dropped.
pub struct TomcatBase {
    folder: BaseFolder,
}

impl TomcatBase {
    /// Creates the folder in the system's temporary folder. `library` is a jar for Tomcat itself.
    ///
    /// # Errors
    /// When something cannot be written (a full disk, for example).
    pub fn create(
        distribution: &Distribution,
        connector: &Connector,
        war: &Path,
        library: Option<&Path>,
    ) -> Result<Self, BaseError> {
        let folder = BaseFolder::create("Tomcat")?;
        for name in ["conf", "lib", "logs", "temp", "work", "webapps"] {
            folder.add(name, |path| std::fs::create_dir(path))?;
        }
        folder.add("conf/server.xml", |path| std::fs::write(path, connector.server_xml()))?;
        folder.add("conf/logging.properties", |path| std::fs::write(path, LOGGING))?;
        folder.add("conf/web.xml", |path| std::fs::copy(distribution.home.join("conf/web.xml"), path))?;
        folder.add("webapps/ROOT.war", |path| std::fs::copy(war, path))?;
        if let Some(jar) = library {
            folder.add("lib/executors.jar", |path| std::fs::copy(jar, path))?;
        }
        Ok(Self { folder })
    }

    /// The folder, which must be held as long as Tomcat runs.
    #[must_use]
    pub fn into_folder(self) -> BaseFolder {
        self.folder
    }

    /// The command that runs Tomcat in the foreground: `Bootstrap` directly, so that the process we start is the JVM.
    /// The JVM exits if the Connector cannot bind its port.
    #[must_use]
    pub fn command(&self, distribution: &Distribution, jdk: &Jdk, jvm: &[String]) -> ServerCommand {
        let home = &distribution.home;
        let base = self.folder.path();
        let opened = OPENED.map(|name| {
            let module = if name.starts_with("sun.rmi") { "java.rmi" } else { "java.base" };
            format!("--add-opens={module}/{name}=ALL-UNNAMED")
        });
        let property = |name: &str, value: PathBuf| format!("-D{name}={}", value.display());
        let classes = [home.join("bin/bootstrap.jar"), home.join("bin/tomcat-juli.jar")];
        let mut arguments = jvm.to_vec();
        arguments.extend(opened);
        arguments.extend([
            "--enable-native-access=ALL-UNNAMED".to_owned(),
            "-cp".to_owned(),
            classes.map(|it| it.display().to_string()).join(":"),
            property("catalina.home", home.clone()),
            property("catalina.base", base.to_owned()),
            property("java.io.tmpdir", base.join("temp")),
            "-Djava.util.logging.manager=org.apache.juli.ClassLoaderLogManager".to_owned(),
            property("java.util.logging.config.file", base.join("conf/logging.properties")),
            "-Dorg.apache.catalina.startup.EXIT_ON_INIT_FAILURE=true".to_owned(),
            "org.apache.catalina.startup.Bootstrap".to_owned(),
            "start".to_owned(),
        ]);
        ServerCommand {
            program: jdk.java(),
            arguments,
            folder: Some(base.to_owned()),
            ..ServerCommand::default()
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::distribution::Checked;
    use std::fs;
    use threadcount_model::experiment::Threads;

    #[test]
    fn the_folder_holds_what_tomcat_needs_and_goes_when_dropped() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("conf")).unwrap();
        fs::write(home.path().join("conf/web.xml"), "<web-app/>").unwrap();
        let war = home.path().join("mine.war");
        fs::write(&war, "PK").unwrap();
        let distribution = Distribution {
            home: home.path().to_owned(),
            version: "11.0.24".to_owned(),
            checked: Checked::Pinned,
            title: "Apache Tomcat",
        };
        let connector = Connector {
            port: 1,
            threads: Threads::Virtual,
            clients: 1,
            accept_count: 1,
            max_connections: None,
            processor_cache: None,
        };
        let base = TomcatBase::create(&distribution, &connector, &war, Some(&war)).unwrap();
        let folder = base.folder.path().to_owned();
        assert!(
            fs::read_to_string(folder.join("conf/server.xml")).unwrap().contains("<Connector port=\"1\"")
        );
        assert!(folder.join("webapps/ROOT.war").exists() && folder.join("conf/web.xml").exists());
        assert!(folder.join("lib/executors.jar").exists());
        drop(base);
        assert!(!folder.exists());

        let missing = TomcatBase::create(&distribution, &connector, Path::new("/nowhere.war"), None);
        let missing = missing.err().unwrap();
        assert!(missing.to_string().contains("ROOT.war"), "{missing}");
    }
}
