//! A running server: what is asked of it while it runs, and its end.

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
    /// `None`: it runs elsewhere.
    pub(super) process: Option<ServerProcess>,
    /// After the server, and before what is behind it goes.
    pub(super) tear_down: TearDown,
    /// After the server, so that it is killed before them.
    pub(super) backends: RunningBackends,
    /// After the process, so that the folder outlives it.
    pub(super) _base: Option<BaseFolder>,
    /// Time between SIGTERM and SIGKILL.
    pub stop_within: Duration,
    pub(super) observer: Observer,
    pub(super) has_jvm_log: bool,
    pub(super) run_folder: PathBuf,
    /// Its base URL, the port filled in.
    pub url: String,
    /// How the server was started and what it reported. The log's path is relative to the launch folder.
    pub facts: ServerFacts,
}

impl RunningServer {
    /// The process that was started, the root of its tree. `None`: it runs elsewhere.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(ServerProcess::pid)
    }

    /// The JVM, which may be a child of what was started.
    fn jvm_pid(&self) -> Option<u32> {
        ProcessTree::rooted_at(self.pid()?).java_pid()
    }

    /// How the server ended; `None`: it is running, or runs elsewhere.
    pub fn has_exited(&mut self) -> Option<ExitStatus> {
        self.process.as_mut()?.has_exited()
    }

    /// The last lines of its log; none of one that runs elsewhere.
    #[must_use]
    pub fn log_tail(&self) -> Vec<String> {
        self.process.as_ref().map(ServerProcess::log_tail).unwrap_or_default()
    }

    /// Native memory of the JVM, which may be a child of the process. `None`: no JVM, or tracking is off.
    #[must_use]
    pub fn native_memory(&self) -> Option<NativeMemory> {
        native_memory::read(self.jvm_pid()?)
    }

    /// Counts the heap of its JVM. `None`: no JVM.
    #[must_use]
    pub fn heap_reader(&self) -> Option<HeapReader> {
        Some(HeapReader { pid: self.jvm_pid()? })
    }

    /// May the probe be loaded into its JVM?
    #[must_use]
    pub const fn may_be_probed(&self) -> bool {
        self.observer.has_probe()
    }

    /// Is there a JVM, and is it to be observed from inside?
    #[must_use]
    pub fn is_to_be_observed(&self) -> bool {
        self.observer.is_wanted() && self.jvm_pid().is_some()
    }

    /// Puts the instruments into its JVM, the probe and a flight recording where they are wanted. Returns why it could not.
    pub fn attach_instruments(&mut self) -> Option<String> {
        self.observer.attach(self.jvm_pid()?)
    }

    /// Readings of the probe in the window. Waits for the flight recorder's last events, usually one to two seconds.
    /// `None`: no JVM, no probe in it, or no lines from it.
    #[must_use]
    pub fn readings(&self, window: Window) -> Option<JvmReadings> {
        self.observer.readings(window)
    }

    /// Where its JVM logs collections and safepoints. `None`: it is not to log, or there is no JVM.
    #[must_use]
    pub fn jvm_log(&self) -> Option<PathBuf> {
        let own = jvm_log::flag::own_file(&self.run_folder);
        let below_a_command = || Some(jvm_log::flag::file_of_process(&self.run_folder, self.jvm_pid()?));
        let file = if own.exists() { Some(own) } else { below_a_command() };
        file.filter(|_| self.has_jvm_log)
    }

    /// Writes a thread dump as JSON. False: no JVM, or the dump failed.
    #[must_use]
    pub fn dump_threads(&self, file: &Path) -> bool {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let command = format!("Thread.dump_to_file -format=json -overwrite \"{}\"", file.display());
        self.jvm_pid().is_some_and(|jvm| attach::ask(jvm, &command).is_some()) && file.is_file()
    }

    /// The servers behind it, in the order of their start.
    #[must_use]
    pub fn backends(&self) -> Vec<BackendTarget> {
        self.backends.targets()
    }

    /// How a backend ended; `None`: all of them are running.
    pub fn backend_has_exited(&mut self) -> Option<BackendEnd> {
        self.backends.has_exited()
    }

    /// SIGTERM, then SIGKILL after the time limit of its kind, for all of its processes; then the variant's command for afterwards; then
    /// stops the backends, the last one first.
    ///
    /// # Errors
    /// That command failed. All processes have been stopped.
    pub fn tear_down(self) -> Result<Stopped, LaunchError> {
        let stopped = stop(self.process, self.stop_within);
        let torn_down = self.tear_down.run();
        self.backends.stop();
        torn_down.map(|()| stopped)
    }

    /// The same where nobody asks for that command.
    pub fn stop(self) -> Stopped {
        let stopped = stop(self.process, self.stop_within);
        drop(self.tear_down);
        self.backends.stop();
        stopped
    }
}

/// One that runs elsewhere goes on.
fn stop(process: Option<ServerProcess>, within: Duration) -> Stopped {
    process.map_or(Stopped { status: None, was_killed: false }, |process| process.stop(within))
}
