//! The observer of a running server's JVM, which attaches its instruments only when they are wanted.

use std::path::{Path, PathBuf};
use threadcount_machine::probe::{Instruments, ProbeSession};
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::window::Window;

/// The instruments of one server. Until they attach, the JVM contains nothing of them.
pub(super) struct Observer {
    probe: Option<ProbeSession>,
    instruments: Instruments,
    run_folder: PathBuf,
}

impl Observer {
    pub fn new(probe: Option<ProbeSession>, instruments: Instruments, run_folder: &Path) -> Self {
        Self { probe, instruments, run_folder: run_folder.to_owned() }
    }

    pub const fn has_probe(&self) -> bool {
        self.probe.is_some()
    }

    pub fn is_wanted(&self) -> bool {
        self.probe.is_some() || self.instruments.jfr
    }

    /// Attaches to the JVM, or returns the reason why it could not.
    pub fn attach(&mut self, jvm_pid: u32) -> Option<String> {
        let refused = self.probe.as_ref().and_then(|probe| probe.attach(jvm_pid).err());
        if refused.is_some() {
            self.probe = None;
        }
        let unrecorded = self.instruments.start_jfr(jvm_pid, &self.run_folder);
        refused.map(|error| error.to_string()).or(unrecorded)
    }

    /// The probe's readings in a window; `None` if it is not in the JVM.
    pub fn readings(&self, window: Window) -> Option<JvmReadings> {
        self.probe.as_ref()?.finish(window)
    }
}
