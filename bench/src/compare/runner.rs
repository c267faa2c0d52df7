//! One run: a fresh server on its core, one call of a tool on the other, and the reports of both.

use crate::child::{self, ServerProcess, Spent};
use crate::compare::result::Run;
use crate::compare::sizes::Cores;
use crate::nginx::{self, Nginx};
use crate::protocol::Protocol;
use crate::server::Served;
use crate::tool::{Call, Claim, Condition, Job, Load, Tool, Toolbox};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What one run of a tool consists of.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The load.
    pub load: Load,
    /// What it sends it over.
    pub condition: Condition,
    /// How our server is called; `None`: nginx responds itself. Over anything but HTTP/1.1 without TLS nginx stands before it.
    pub server: Option<Vec<String>>,
    /// Server and tool go before everything else on their cores.
    pub is_urgent: bool,
}

/// Makes runs, each with a folder and a number of its own.
pub struct Runner<'a> {
    toolbox: &'a Toolbox,
    cores: Cores,
    folder: PathBuf,
    number: u32,
}

impl<'a> Runner<'a> {
    /// A runner that keeps the tools' files in a temporary folder.
    ///
    /// # Errors
    /// When that folder cannot be made.
    pub fn new(toolbox: &'a Toolbox, cores: Cores) -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("threadcount-bench-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self { toolbox, cores, folder, number: 0 })
    }

    /// Makes one trial of a tool against a fresh server of ours; also returns its command line. `None`: it cannot do
    /// this load.
    ///
    /// # Errors
    /// When the server cannot be started; problems of the tool are in the run.
    pub fn run(&mut self, tool: &dyn Tool, trial: &Trial) -> io::Result<Option<(String, Run)>> {
        let &Trial { load, condition, is_urgent, .. } = trial;
        self.number += 1;
        let folder = self.folder.join(self.number.to_string());
        let dry = Job { load, condition, url: String::new(), number: self.number, folder: folder.clone() };
        let (Some(program), Some(_)) = (self.toolbox.find(tool.program()), tool.call(&dry)) else {
            return Ok(None);
        };
        if !tool.speaks(condition.protocol) {
            return Ok(None);
        }
        fs::create_dir_all(&folder)?;
        let servers = Servers::start(self.toolbox, &folder, self.cores.server, trial)?;
        let job = Job { url: servers.url(condition.protocol), ..dry };
        let Some(call) = tool.call(&job) else { return Ok(None) };
        let line = format!("{} {}", tool.program(), call.args.join(" "));
        let spent = self.call(&program, &call, &job, is_urgent);
        let served = servers.stop(load.lasts())?;
        let run = match spent {
            Ok(spent) => {
                let claim = figures(&program, &call, &job).and_then(|text| tool.claim(&text));
                assemble(served, spent, claim, &folder)
            }
            Err(error) => Run { trouble: Some(format!("it cannot be started: {error}")), ..Run::default() },
        };
        fs::remove_dir_all(&folder)?;
        Ok(Some((line, run)))
    }

    /// The version of the server of TLS and HTTP/2.
    #[must_use]
    pub fn nginx_version(&self) -> String {
        nginx::version(&self.toolbox.find(nginx::PROGRAM).unwrap_or_else(|| nginx::PROGRAM.into()))
    }

    fn call(&self, program: &Path, call: &Call, job: &Job, is_urgent: bool) -> io::Result<Spent> {
        for (name, content) in &call.files {
            fs::write(job.folder.join(name), content)?;
        }
        let mut command = Command::new(program);
        command.args(&call.args).stdin(Stdio::null());
        command
            .stdout(File::create(job.folder.join("stdout"))?)
            .stderr(File::create(job.folder.join("stderr"))?);
        let limit = job.load.lasts() * 2 + Duration::from_secs(20);
        child::run(placed(&mut command, self.cores.client, is_urgent.then_some(OURS)), limit, |_| {})
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        // Only temporary files are left behind when this fails.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The real-time priority of our server and of the tool.
const OURS: i32 = 1;
/// That of nginx, which shares the core of our server and must not wait for it.
const IN_FRONT: i32 = 2;

fn placed(command: &mut Command, core: usize, priority: Option<i32>) -> &mut Command {
    let command = child::pin(command, core);
    match priority {
        Some(priority) => child::urgent(command, priority),
        None => command,
    }
}

/// What is loaded: a server of ours, nginx, or nginx in front of a server of ours.
struct Servers {
    nginx: Option<Nginx>,
    ours: Option<ServerProcess>,
}

impl Servers {
    fn start(toolbox: &Toolbox, folder: &Path, core: usize, trial: &Trial) -> io::Result<Self> {
        let priority = |level: i32| trial.is_urgent.then_some(level);
        let start = |arguments| {
            let mut command = Command::new(&toolbox.bench);
            ServerProcess::start(placed(command.args(arguments), core, priority(OURS)))
        };
        let ours = trial.server.as_ref().map(start).transpose()?;
        if trial.condition.protocol == Protocol::Http1 {
            return Ok(Self { nginx: None, ours });
        }
        let program = toolbox.find(nginx::PROGRAM).unwrap_or_else(|| nginx::PROGRAM.into());
        let mut command = Command::new(program);
        let command = placed(&mut command, core, priority(IN_FRONT));
        let behind = ours.as_ref().map(ServerProcess::address);
        let nginx = Some(Nginx::start(command, folder, trial.condition.protocol, behind)?);
        Ok(Self { nginx, ours })
    }

    fn url(&self, protocol: Protocol) -> String {
        let nginx = self.nginx.as_ref().map(Nginx::address);
        let address = nginx.or_else(|| self.ours.as_ref().map(ServerProcess::address));
        address.map_or_else(String::new, |address| format!("{}://{address}/", protocol.scheme()))
    }

    /// What the last of them counted, which is the one that responds.
    fn stop(self, lasts: Duration) -> io::Result<Served> {
        match (self.ours, self.nginx) {
            (Some(ours), _) => ours.stop(),
            (None, Some(nginx)) => nginx.served(lasts),
            (None, None) => Err(io::Error::other("nothing was started")),
        }
    }
}

/// The text that holds a tool's figures.
fn figures(program: &Path, call: &Call, job: &Job) -> Result<String, String> {
    if let Some(args) = &call.then {
        let output = Command::new(program).args(args).output().map_err(|error| error.to_string())?;
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let file = job.folder.join(call.figures.unwrap_or("stdout"));
    fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
}

fn assemble(served: Served, spent: Spent, claim: Result<Claim, String>, folder: &Path) -> Run {
    let trouble = if spent.too_slow {
        Some("it did not end in time and was killed".to_owned())
    } else {
        claim.as_ref().err().map(|error| match last_line(&folder.join("stderr")) {
            Some(line) => format!("{error} ({}; it said: {line})", spent.status),
            None => format!("{error} ({})", spent.status),
        })
    };
    Run {
        answers: served.answers,
        connections: served.connections,
        rate_per_s: served.rate_per_s,
        cpu_us_per_request: (served.answers > 0)
            .then(|| spent.cpu.as_secs_f64() * 1e6 / served.answers as f64),
        peak_rss_mib: spent.peak_rss_kib as f64 / 1024.0,
        claim: claim.ok(),
        held_ms: served.held_ms,
        lateness_ms: served.lateness_ms,
        trouble,
    }
}

fn last_line(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(|line| line.chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn spent(too_slow: bool) -> Spent {
        Spent {
            cpu: Duration::from_millis(40),
            peak_rss_kib: 2_048,
            status: ExitStatus::from_raw(0),
            too_slow,
        }
    }

    #[test]
    fn cpu_is_divided_by_what_the_server_counted_not_by_what_the_tool_claims() {
        let served = Served { answers: 10_000, ..Served::default() };
        let claim = Claim { answers: Some(99_999), ..Claim::default() };
        let run = assemble(served, spent(false), Ok(claim), Path::new("/nowhere"));
        assert_eq!(run.cpu_us_per_request, Some(4.0));
        assert_eq!((run.peak_rss_mib, run.trouble), (2.0, None));
    }

    #[test]
    fn a_tool_that_reached_nobody_has_no_cost_per_request() {
        let run =
            assemble(Served::default(), spent(true), Err("no figures".to_owned()), Path::new("/nowhere"));
        assert_eq!(run.cpu_us_per_request, None);
        assert!(run.trouble.unwrap().contains("killed"));
    }
}
