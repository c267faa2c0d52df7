//! A running server: readings while it runs, and its end.

use super::backends::{BackendEnd, BackendTarget, RunningBackends};
use super::base_folder::BaseFolder;
use super::error::LaunchError;
use super::observer::Observer;
use super::own_commands::TearDown;
use super::server_process::{ServerProcess, Stopped};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;
use threadcount_machine::live_heap::HeapReader;
use threadcount_machine::process_tree::ProcessTree;
use threadcount_machine::{attach, jvm_log, native_memory};
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::record::{NativeMemory, ServerFacts};
use threadcount_model::window::Window;

/// A running server. Dropping it kills it.
pub struct RunningServer {
    /// The process; `None` if the server runs elsewhere.
    pub(super) process: Option<ServerProcess>,
    /// Declared between the process and the backends, because it is run after the server ends and before its backends do.
    pub(super) tear_down: TearDown,
    /// Declared after the process, so that the server is killed before its backends.
    pub(super) backends: RunningBackends,
    /// Declared after the process, so that the folder outlives it.
    pub(super) _base: Option<BaseFolder>,
    /// Time between SIGTERM and SIGKILL.
    pub stop_within: Duration,
    pub(super) observer: Observer,
    pub(super) has_jvm_log: bool,
    pub(super) run_folder: PathBuf,
    /// The base URL with the port filled in.
    pub url: String,
    /// Facts about how the server was started and what it reported. The log's path is relative to the launch folder.
    pub facts: ServerFacts,
}

impl RunningServer {
    /// The id of the started process, the root of its tree; `None` if the server runs elsewhere.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(ServerProcess::pid)
    }

    /// The id of the JVM, which may be a child of the started process.
    fn jvm_pid(&self) -> Option<u32> {
        ProcessTree::rooted_at(self.pid()?).java_pid()
    }

    /// The exit status of the server; `None` if it is still running or runs elsewhere.
    pub fn has_exited(&mut self) -> Option<ExitStatus> {
        self.process.as_mut()?.has_exited()
    }

    /// The last lines of the server's log; empty if it runs elsewhere.
    #[must_use]
    pub fn log_tail(&self) -> Vec<String> {
        self.process.as_ref().map(ServerProcess::log_tail).unwrap_or_default()
    }

    /// Native memory of the JVM, which may be a child of the process; `None` without a JVM or if tracking is off.
    #[must_use]
    pub fn native_memory(&self) -> Option<NativeMemory> {
        native_memory::read(self.jvm_pid()?)
    }

    /// A reader of the JVM's heap; `None` without a JVM.
    #[must_use]
    pub fn heap_reader(&self) -> Option<HeapReader> {
        Some(HeapReader { pid: self.jvm_pid()? })
    }

    /// Whether the probe may be loaded into the JVM.
    #[must_use]
    pub const fn may_be_probed(&self) -> bool {
        self.observer.has_probe()
    }

    /// Whether there is a JVM and it is to be observed from inside.
    #[must_use]
    pub fn is_to_be_observed(&self) -> bool {
        self.observer.is_wanted() && self.jvm_pid().is_some()
    }

    /// Attaches the wanted instruments (probe, flight recording) to the JVM, or returns the reason why it could not.
    pub fn attach_instruments(&mut self) -> Option<String> {
        self.observer.attach(self.jvm_pid()?)
    }

    /// Readings of the probe in the window; `None` without a JVM, a probe in it or lines from the probe. Waits for the flight
    /// recorder's last events, usually one to two seconds.
    #[must_use]
    pub fn readings(&self, window: Window) -> Option<JvmReadings> {
        self.observer.readings(window)
    }

    /// The file in which the JVM logs collections and safepoints; `None` if it does not log or there is no JVM.
    #[must_use]
    pub fn jvm_log(&self) -> Option<PathBuf> {
        let own = jvm_log::flag::own_file(&self.run_folder);
        let below_a_command = || Some(jvm_log::flag::file_of_process(&self.run_folder, self.jvm_pid()?));
        let file = if own.exists() { Some(own) } else { below_a_command() };
        file.filter(|_| self.has_jvm_log)
    }

    /// Writes a thread dump as JSON; returns false without a JVM or if the dump failed.
    #[must_use]
    pub fn dump_threads(&self, file: &Path) -> bool {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let command = format!("Thread.dump_to_file -format=json -overwrite \"{}\"", file.display());
        self.jvm_pid().is_some_and(|jvm| attach::ask(jvm, &command).is_some()) && file.is_file()
    }

    /// The server's backends, in the order of their start.
    #[must_use]
    pub fn backends(&self) -> Vec<BackendTarget> {
        self.backends.targets()
    }

    /// The end of the first backend that has ended; `None` if all are running.
    pub fn backend_has_exited(&mut self) -> Option<BackendEnd> {
        self.backends.has_exited()
    }

    /// Ends all processes of the server (SIGTERM, then SIGKILL after its kind's time limit), runs the variant's `after` command, then
    /// stops the backends, the last one first.
    ///
    /// # Errors
    /// The `after` command failed. All processes have been stopped nevertheless.
    pub fn tear_down(self) -> Result<Stopped, LaunchError> {
        let stopped = stop(self.process, self.stop_within);
        let torn_down = self.tear_down.run();
        self.backends.stop();
        torn_down.map(|()| stopped)
    }

    /// Like [`tear_down`](Self::tear_down), but ignores a failure of the `after` command.
    pub fn stop(self) -> Stopped {
        let stopped = stop(self.process, self.stop_within);
        drop(self.tear_down);
        self.backends.stop();
        stopped
    }
}

/// Stops the process; a server that runs elsewhere keeps running.
fn stop(process: Option<ServerProcess>, within: Duration) -> Stopped {
    process.map_or(Stopped { status: None, was_killed: false }, |process| process.stop(within))
}
