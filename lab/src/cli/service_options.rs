//! The flags of `compare` for the service that is compared and for its start.

use super::attached_load::{Attachment, attachment};
use super::remote_target::named_url;
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use threadcount_config::for_compare::asked::{Compared, Surroundings};
use threadcount_machine::jdk_finder::Places;
use threadcount_model::environment;

/// The flags that do not go with `--attach`, because they are about the start of a server or about a comparison.
const NOT_ATTACHED: [&str; 18] = [
    "jdks",
    "jvm",
    "args",
    "env",
    "workdir",
    "before",
    "after",
    "ready",
    "save",
    "runs",
    "out",
    "resume",
    "fail_if",
    "jfr",
    "no_probe",
    "no_jvm_log",
    "open",
    "warmup",
];

/// The service to compare: commands, or an application whose choice of threads is known.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Service", group = ArgGroup::new("compared").required(true))]
pub struct ServiceOptions {
    /// A name and the command that starts the server; {port} stands for a free port. The first one is the baseline
    #[arg(long = "variant", value_name = "NAME=COMMAND", value_parser = variant, group = "compared")]
    variants: Vec<(String, String)>,
    /// A name and the base URL of a server that runs already, here or on another host. It is loaded but not observed. The first
    /// one is the baseline
    #[arg(long = "target-url", value_name = "NAME=URL", value_parser = named_url, group = "compared")]
    target_urls: Vec<(String, String)>,
    /// The runnable jar of a Spring Boot application (3.2 or newer). It is compared on its own pool, on virtual threads and, if there are
    /// more clients than pool threads, on a pool with a thread per client. Threadcount sets SERVER_PORT and SPRING_THREADS_VIRTUAL_ENABLED
    #[arg(long, value_name = "APP.jar", group = "compared")]
    spring_boot: Option<PathBuf>,
    /// A web application, run on a Tomcat 11 that is downloaded. It is compared on Tomcat's pool, on virtual threads and, with more than
    /// 200 clients, on a pool with a thread per client
    #[arg(long, value_name = "APP.war", group = "compared")]
    war: Option<PathBuf>,
    /// A name and the runnable jar of a Quarkus application, once per build, e.g. worker=a/quarkus-run.jar (built with
    /// quarkus.virtual-threads.enabled=false) and virtual=b/quarkus-run.jar. The first one is the baseline. Threadcount sets
    /// QUARKUS_HTTP_PORT
    #[arg(long, value_name = "NAME=APP.jar", value_parser = named_jar, group = "compared")]
    quarkus: Vec<(String, PathBuf)>,
    /// The runnable jar of a Helidon 4 application that reads `server` from its configuration. It is compared on virtual threads without a
    /// limit and with --limit (200). Threadcount sets SERVER_PORT and SERVER_MAX_DASH_CONCURRENT_DASH_REQUESTS
    #[arg(long, value_name = "APP.jar", group = "compared")]
    helidon: Option<PathBuf>,
    /// With --spring-boot or --war on Tomcat, and with --helidon: also compare virtual threads with at most this many requests at once
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["variants", "target_urls", "quarkus", "attach", "crossover"])]
    limit: Option<u32>,
    /// A service that runs already on this machine: the process id of its JVM, or its address, e.g. http://127.0.0.1:8080. It is loaded and
    /// observed; add --crossover to compare kinds of thread
    #[arg(long, value_name = "PID|URL", group = "compared", value_parser = attachment, conflicts_with_all = NOT_ATTACHED)]
    #[cfg_attr(feature = "kubernetes", arg(conflicts_with = "kubernetes"))]
    attach: Option<Attachment>,
    /// Java versions, e.g. 21,25; each runs all variants [default: the newest; a --variant uses its own]
    #[arg(long = "jdk", value_name = "VERSION,..", value_delimiter = ',', value_parser = super::run::feature_version)]
    jdks: Vec<u16>,
    /// Flags of the JVM, e.g. '-Xmx512m -XX:+UseZGC'; a --variant gets them in JDK_JAVA_OPTIONS
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    jvm: Option<String>,
    /// Arguments of the jar
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    args: Option<String>,
    /// A variable for the server's environment. ${NAME} in its value is read from your environment and appears in no result. Repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = env)]
    env: Vec<(String, String)>,
    /// The working folder of the server
    #[arg(long, value_name = "DIR")]
    workdir: Option<PathBuf>,
    /// A command to run before each start of the server, e.g. to fill a database
    #[arg(long, value_name = "COMMAND")]
    before: Option<String>,
    /// A command to run after each end of the server, however it ended
    #[arg(long, value_name = "COMMAND")]
    after: Option<String>,
}

impl ServiceOptions {
    /// The service of `--attach`, which runs already.
    pub const fn attached(&self) -> Option<&Attachment> {
        self.attach.as_ref()
    }

    /// The servers to compare. Files get their whole paths, because a server may have another working folder.
    pub fn compared(&self) -> Compared {
        let path = |path: &Option<PathBuf>| path.clone().map(absolute);
        let builds = self.quarkus.iter().map(|(name, jar)| (name.clone(), absolute(jar.clone()))).collect();
        let targets = (!self.target_urls.is_empty()).then(|| Compared::Targets(self.target_urls.clone()));
        path(&self.spring_boot)
            .map(Compared::SpringBoot)
            .or_else(|| path(&self.war).map(Compared::War))
            .or_else(|| path(&self.helidon).map(Compared::Helidon))
            .or_else(|| (!self.quarkus.is_empty()).then_some(Compared::Quarkus(builds)))
            .or(targets)
            .unwrap_or_else(|| Compared::Commands(self.variants.clone()))
    }

    /// The circumstances of the server's start.
    pub fn surroundings(&self) -> Surroundings {
        let is_service = self.compared().is_service();
        let newest = || Places::of_this_machine().find().first().map(|jdk| jdk.feature);
        let jdks = match &self.jdks[..] {
            [] if is_service => newest().into_iter().collect(),
            asked => asked.to_vec(),
        };
        let words = |flags: &String| flags.split_whitespace().map(str::to_owned).collect();
        Surroundings {
            jdks,
            jvm: self.jvm.as_ref().map(words).unwrap_or_default(),
            args: self.args.clone(),
            env: self.env.iter().cloned().collect(),
            workdir: self.workdir.clone().map(absolute),
            before: self.before.clone(),
            after: self.after.clone(),
            limit: self.limit,
        }
    }

    /// Whether virtual threads with a limit are compared too.
    pub const fn has_limit(&self) -> bool {
        self.limit.is_some()
    }
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

fn variant(written: &str) -> Result<(String, String), String> {
    match written.split_once('=') {
        Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
            Ok((name.to_owned(), command.to_owned()))
        }
        _ => {
            Err("write NAME='COMMAND', for example virtual='java -jar app.jar --server.port={port}'"
                .to_owned())
        }
    }
}

fn named_jar(written: &str) -> Result<(String, PathBuf), String> {
    let (name, jar) = variant(written).map_err(|_| {
        "write NAME=APP.jar, for example virtual=target/quarkus-app/quarkus-run.jar".to_owned()
    })?;
    Ok((name, PathBuf::from(jar)))
}

fn env(written: &str) -> Result<(String, String), String> {
    let Some((name, value)) = written.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err("write NAME=VALUE, for example SPRING_PROFILES_ACTIVE=prod".to_owned());
    };
    match environment::first_unset(value) {
        Some(unset) => Err(format!("the environment variable `{unset}` is not set: set it for this command")),
        None => Ok((name.to_owned(), value.to_owned())),
    }
}
