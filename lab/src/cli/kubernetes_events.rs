//! Prints what happens in the cluster on standard error.

use std::fmt;
use threadcount_cluster::ClusterLoad;
use threadcount_cluster::api_error::in_one_line;
use threadcount_cluster::follow::Event;
use threadcount_cluster::pod_state::PodState;
use threadcount_load::clock::{NANOS_PER_S, unix_now_ns};

/// The purpose of a Job's pods.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// They send one load, which begins at this time.
    Load { start_at_unix_ns: u64 },
    /// They send all loads of a session.
    Session,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load { start_at_unix_ns } => {
                let seconds = start_at_unix_ns.saturating_sub(unix_now_ns()) / NANOS_PER_S;
                write!(f, "the load begins in {seconds} s")
            }
            Self::Session => f.write_str("which stay for all loads"),
        }
    }
}

/// Prints an event, if it is worth a line.
pub(super) fn tell(event: &Event, load: &ClusterLoad, purpose: Purpose, is_quiet: bool) {
    let name = &load.name;
    let output_text = match event {
        // The user must act on this, so it is printed even with `--quiet`.
        Event::Stays { namespace, name } => {
            note!(
                "{name} is still there. Kubernetes removes it once its node is back or was removed too. To remove it at once: \
                 kubectl delete pod {name} -n {namespace} --force"
            );
            return;
        }
        Event::NotRemoved { namespace, error } => {
            note!("{:?}", miette::Report::from(error.clone()));
            note!("the job is still there; remove it: kubectl delete job {name} -n {namespace}");
            return;
        }
        Event::Created { namespace } => {
            format!("job {name} in namespace {namespace}: {} pods, {purpose}", load.pods)
        }
        Event::Pod { name, state: PodState::Lost(loss), .. } => format!("{name}: {loss}"),
        Event::Ending { name, why, .. } => format!("{name}: stopping ({why})"),
        Event::NotTold { name, error, .. } => {
            format!("{name} did not receive its load: {}", in_one_line(error))
        }
        Event::Away(true) => "the API server does not answer; the pods go on".to_owned(),
        Event::Away(false) => "the API server answers again".to_owned(),
        Event::Pod { .. } | Event::Line { .. } | Event::End(_) => return,
    };
    if !is_quiet {
        note!("{output_text}");
    }
}
