//! Installs the tools that a registry has. Programs built by cargo and go go to our own folder; Debian packages are
//! the system's, as their libraries are.

use crate::tool::{self, Toolbox};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::process::Command;

/// The source of a program.
enum Source {
    Debian(&'static str),
    Cargo(&'static str),
    Go(&'static str),
    /// A Go module at this version, built from a module of our own that requires it: `go install` asks the proxy for
    /// the list of versions first, which it does not have for every module (seen: 403 for vegeta's).
    GoAt {
        module: &'static str,
        version: &'static str,
    },
    Nowhere(&'static str),
}

fn source(program: &str) -> Option<Source> {
    Some(match program {
        "wrk" => Source::Debian("wrk"),
        "h2load" => Source::Debian("nghttp2-client"),
        "ab" => Source::Debian("apache2-utils"),
        "oha" => Source::Cargo("oha"),
        "hey" => Source::Go("github.com/rakyll/hey"),
        "k6" => Source::Go("go.k6.io/k6"),
        "vegeta" => Source::GoAt { module: "github.com/tsenart/vegeta/v12", version: "v12.12.0" },
        "wrk2" => Source::Nowhere(
            "no registry has a package of it; build https://github.com/giltene/wrk2 into PATH",
        ),
        "gcannon" => Source::Nowhere(
            "no registry has a package of it; build https://github.com/MDA2AV/gcannon into PATH (liburing 2.4 or later)",
        ),
        _ => return None,
    })
}

/// Why a program is not there, in words.
#[must_use]
pub fn why_missing(program: &str) -> &'static str {
    match source(program) {
        Some(Source::Nowhere(why)) => why,
        Some(_) => "not installed: call compare with --install",
        None => "not built: cargo build --release",
    }
}

/// Installs every tool that is missing, one after the other. A failure is printed, and the comparison goes on without
/// that tool.
///
/// # Errors
/// When our own folder cannot be made.
pub fn install_missing(toolbox: &Toolbox) -> io::Result<()> {
    fs::create_dir_all(toolbox.bin())?;
    let programs: BTreeSet<&str> = tool::all().iter().map(|tool| tool.program()).collect();
    for program in programs {
        let (None, Some(source)) = (toolbox.find(program), source(program)) else { continue };
        eprintln!("install {program}");
        match install(toolbox, program, &source) {
            Ok(()) => {}
            Err(error) => eprintln!("install {program}: {error}; it is left out"),
        }
    }
    Ok(())
}

fn install(toolbox: &Toolbox, program: &str, source: &Source) -> io::Result<()> {
    match source {
        Source::Debian(package) => {
            // SAFETY: geteuid only returns a number.
            let mut command =
                if unsafe { libc::geteuid() } == 0 { vec!["apt-get"] } else { vec!["sudo", "-n", "apt-get"] };
            command.extend(["install", "-y", "--no-install-recommends", package]);
            call(Command::new(command[0]).args(&command[1..]))
        }
        Source::Cargo(name) => {
            call(Command::new("cargo").args(["install", name, "--locked", "--root"]).arg(&toolbox.folder))
        }
        Source::Go(module) => call(
            Command::new("go").arg("install").arg(format!("{module}@latest")).env("GOBIN", toolbox.bin()),
        ),
        Source::GoAt { module, version } => {
            let folder = toolbox.folder.join(format!("{program}-build"));
            fs::create_dir_all(&folder)?;
            fs::write(
                folder.join("go.mod"),
                format!("module build\n\ngo 1.24\n\nrequire {module} {version}\n"),
            )?;
            let output = toolbox.bin().join(program);
            call(
                Command::new("go")
                    .args(["build", "-mod=mod", "-o"])
                    .arg(output)
                    .arg(module)
                    .current_dir(folder),
            )
        }
        Source::Nowhere(why) => Err(io::Error::other(*why)),
    }
}

fn call(command: &mut Command) -> io::Result<()> {
    let status = command.status().map_err(|error| {
        io::Error::other(format!("{} cannot be started: {error}", command.get_program().to_string_lossy()))
    })?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("ended with {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_foreign_tool_has_a_source_or_a_reason_for_having_none() {
        for tool in tool::all() {
            let ours = tool.program().starts_with("threadcount");
            assert_eq!(source(tool.program()).is_none(), ours, "{}", tool.name());
        }
        assert!(why_missing("wrk2").contains("no registry"));
    }
}
