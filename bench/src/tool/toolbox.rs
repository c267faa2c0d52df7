//! Where the programs are: our own folder first, then PATH.

use crate::tool::{Tool, VersionBy, threadcount::Threadcount};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Finds programs and their versions.
#[derive(Clone, Debug)]
pub struct Toolbox {
    /// The folder our own installations go to.
    pub folder: PathBuf,
    /// The `threadcount` program to measure.
    pub threadcount: PathBuf,
    /// This program.
    pub bench: PathBuf,
}

impl Toolbox {
    /// The folder is `$XDG_CACHE_HOME/threadcount/bench` or `~/.cache/threadcount/bench`; threadcount lies beside this
    /// program by default.
    ///
    /// # Errors
    /// When there is neither HOME nor XDG_CACHE_HOME, or this program's own path cannot be read.
    pub fn new(threadcount: Option<PathBuf>) -> std::io::Result<Self> {
        let cache = env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
            .ok_or_else(|| {
                std::io::Error::other("set HOME or XDG_CACHE_HOME: the tools are kept below it")
            })?;
        let bench = env::current_exe()?;
        let threadcount = threadcount.unwrap_or_else(|| bench.with_file_name("threadcount"));
        Ok(Self { folder: cache.join("threadcount/bench"), threadcount, bench })
    }

    /// The folder of the programs that we installed.
    #[must_use]
    pub fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// The file of a program.
    #[must_use]
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        match program {
            Threadcount::PROGRAM => Some(self.threadcount.clone()).filter(|path| path.is_file()),
            crate::tool::bare::PROGRAM => Some(self.bench.clone()),
            _ => {
                let path = env::var_os("PATH").unwrap_or_default();
                // Debian's nginx is where only root has it in the PATH.
                let folders = std::iter::once(self.bin()).chain(env::split_paths(&path));
                let mut folders = folders.chain(["/usr/sbin".into()]);
                folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()))
            }
        }
    }

    /// The version of a tool's program, or why it is not known.
    #[must_use]
    pub fn version(&self, tool: &dyn Tool, program: &Path) -> String {
        let command = match tool.version() {
            VersionBy::Argument(argument) => Command::new(program).arg(argument).output(),
            VersionBy::GoModule(_) => Command::new("go").args(["version", "-m"]).arg(program).output(),
        };
        let Ok(output) = command else { return "version not known".to_owned() };
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let line = match tool.version() {
            VersionBy::Argument(_) => text.lines().map(str::trim).find(|line| !line.is_empty()).map(short),
            VersionBy::GoModule(module) => go_module(&text, module),
        };
        line.unwrap_or_else(|| "version not known".to_owned())
    }
}

/// Why a program is not there, in words.
#[must_use]
pub fn why_missing(program: &str) -> &'static str {
    match program {
        Threadcount::PROGRAM => "not built: cargo build --release",
        _ => "not installed: ./dev bench installs it",
    }
}

/// A version line without what follows the version.
fn short(line: &str) -> String {
    line.split(" Copyright").next().unwrap_or(line).trim_start_matches("This is ").trim().to_owned()
}

fn go_module(text: &str, module: &str) -> Option<String> {
    text.lines().find_map(|line| {
        if line.trim_start().starts_with("path") {
            return None;
        }
        let mut words = line.split_whitespace().skip_while(|word| *word != module);
        words.next()?;
        words.next().map(|version| format!("{module} {version}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_line_loses_its_copyright() {
        assert_eq!(
            short("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer"),
            "wrk debian/4.1.0-3+b2 [epoll]"
        );
    }

    #[test]
    fn a_go_programs_version_is_its_modules() {
        let text = "/x/hey: go1.26.8\n\tpath\tgithub.com/rakyll/hey\n\tmod\tgithub.com/rakyll/hey\tv0.1.5\th1:oc3Q=\n";
        assert_eq!(go_module(text, "github.com/rakyll/hey").unwrap(), "github.com/rakyll/hey v0.1.5");
        assert_eq!(go_module(text, "github.com/rakyll/boom"), None);
    }
}
