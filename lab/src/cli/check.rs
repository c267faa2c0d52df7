//! `threadcount check`: what this machine can and cannot do.

use super::FAILED;
use clap::Args;
use std::fmt::Display;
use std::process::{Command, ExitCode, Stdio};
use threadcount_machine::jdk_finder::{Places, choose};
use threadcount_machine::{app, machine};
use threadcount_servers::distribution::DistributionStore;
use threadcount_servers::tomcat::distribution::TOMCAT;

/// The Java versions that the experiments use.
const WANTED_JAVA: [u16; 2] = [21, 25];

/// The Tomcat lines that the experiments use.
const WANTED_TOMCAT: [&str; 3] = ["11.0", "10.1", "10.0"];

/// Check this machine: Java runtimes, Tomcat, the web applications, the kernel's limits
///
/// Exit code: 0 everything was found, 1 something is missing.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CheckCommand {}

const EXAMPLES: &str = "Examples:
  Before the first run on a new machine:
    threadcount check
  Only if nothing is missing:
    threadcount check && threadcount run all --quick";

macro_rules! line {
    ($($text:tt)*) => { anstream::println!("{}", super::stdout::fitting(&format!($($text)*))) };
}

impl CheckCommand {
    /// Prints what was found and what is missing.
    ///
    /// # Errors
    /// None.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let mut all = true;
        let mut missing = |what: &str, why: &dyn Display| {
            all = false;
            line!("  missing  {what}: {why}");
        };
        let machine = machine::read();
        let gib = machine.memory_bytes as f64 / f64::from(1 << 30);
        line!("Machine: {}, {} cores, {gib:.0} GiB, Linux {}", machine.cpu, machine.cores, machine.kernel);
        line!("  {} open files at most", machine.max_open_files);

        line!("Java:");
        let jdks = Places::of_this_machine().find();
        for jdk in &jdks {
            line!("  found    {}", jdk.describe());
        }
        for feature in WANTED_JAVA {
            if let Err(error) = choose(&jdks, Some(feature)) {
                missing(&format!("Java {feature}"), &error);
            }
        }

        line!("Tomcat:");
        let store = DistributionStore::of_this_machine();
        for line in WANTED_TOMCAT {
            // This only looks; it downloads nothing.
            if let Some(version) = store.missing(&TOMCAT, line) {
                line!(
                    "  later    Apache Tomcat {version}: the first run that needs it fetches it from Maven Central"
                );
                continue;
            }
            match store.get(&TOMCAT, line) {
                Ok(distribution) => line!("  found    {}", distribution.product()),
                Err(error) => missing(&format!("Tomcat {line}"), &error),
            }
        }

        line!("Web applications and tools:");
        match app::find("servlets") {
            Ok(path) => line!("  found    servlets ({})", path.display()),
            Err(error) => missing("servlets", &error),
        }
        if !can_run("mvn") {
            missing("mvn", &"install Maven (Debian: maven); it fetches Tomcat");
        }
        Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }
}

fn can_run(program: &str) -> bool {
    let quiet = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}
