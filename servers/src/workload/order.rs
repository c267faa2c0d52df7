//! Orders to a process that sends several loads one after the other, a line of JSON each (docs/contributing/share-format.md).

use super::load_plan::{LoadPlanError, load_plan};
use serde::{Deserialize, Serialize};
use threadcount_load::merge::PlanText;
use threadcount_load::plan::{LoadPlan, LoadShare};
use threadcount_model::experiment::{LoadSpec, RequestSpec};

/// One order, a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Sends this load.
    Send(Box<LoadStep>),
    /// Ends the load with this number early and asks for its measurement.
    Stop { step: u32 },
}

/// One of several loads to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadStep {
    /// The number of the load, from 1, larger than that of the load before.
    pub step: u32,
    /// The wall-clock time at which all shares begin, in nanoseconds since 1970.
    pub start_at_unix_ns: u64,
    /// The base URL of the server.
    pub url: String,
    /// The requests, and how they are sent.
    load: LoadSpec,
    /// The pace and size, which may differ from those of the load.
    plan: PlanText,
}

/// The error for a load that another machine cannot send.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the load `{load}` needs a file of this machine: {file}")]
pub struct NeedsFile {
    pub load: String,
    pub file: String,
}

/// The reason why a load that came from another process cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    #[error(transparent)]
    Load(#[from] LoadPlanError),
    #[error("its plan cannot be used: {0}")]
    Plan(String),
}

impl LoadStep {
    /// A load of an experiment against the server at `url`, at the pace of `plan`. It contains the values of our environment.
    #[must_use]
    pub fn new(step: u32, start_at_unix_ns: u64, url: &str, load: &LoadSpec, plan: &LoadPlan) -> Self {
        let mut load = load.clone();
        load.request = load.request.with_environment();
        load.more_requests = load.more_requests.iter().map(RequestSpec::with_environment).collect();
        // The cores belong to this machine, and the log to the experiment.
        load.sending.cores.clear();
        load.sending.log = None;
        Self { step, start_at_unix_ns, url: url.to_owned(), load, plan: PlanText::new(plan) }
    }

    /// The plan of this process's share of the load.
    ///
    /// # Errors
    /// The load or the plan is invalid.
    pub fn plan(&self, share: LoadShare) -> Result<LoadPlan, StepError> {
        let plan = self.plan.apply(load_plan(&self.load, &self.url)?).map_err(StepError::Plan)?;
        let plan = plan.with(|plan| plan.share = share);
        plan.check().map_err(LoadPlanError::from)?;
        Ok(plan)
    }
}

/// Checks that another machine can send the load.
///
/// # Errors
/// The first file that the load would need there.
pub fn check_files(load: &LoadSpec) -> Result<(), NeedsFile> {
    let sending = &load.sending;
    let identity = sending.identity.iter().map(|identity| &identity.certificate);
    let mut files = sending.ca_files.iter().chain(&sending.unix_socket).chain(identity);
    let file = files.next().map(|file| file.display().to_string());
    let feed = || load.all_requests().find_map(csv_placeholder);
    match file.or_else(feed) {
        None => Ok(()),
        Some(file) => Err(NeedsFile { load: load.name.clone(), file }),
    }
}

fn csv_placeholder(request: &RequestSpec) -> Option<String> {
    let headers = request.headers.iter().filter_map(|(_, value)| value.clone());
    let body = request.body.as_ref().map(|body| String::from_utf8_lossy(&body.bytes()).into_owned());
    let mut texts = std::iter::once(request.path.clone()).chain(headers).chain(body);
    texts.find_map(|text| {
        let rest = &text[text.find("{csv:")?..];
        Some(rest[..rest.find('}').map_or(rest.len(), |end| end + 1)].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::load_plan::at_rate;
    use threadcount_config::parse;
    use threadcount_load::plan::{Pacing, RateShape};

    fn load(text: &str) -> LoadSpec {
        let text = format!("question: q\nserver: {{tomcat: 11.0}}\nvariants: {{a: {{}}}}\nloads: [{text}]\n");
        parse("x", "x.yaml", &text, false).expect("an experiment").loads.remove(0)
    }

    #[test]
    fn a_step_of_a_search_comes_back_from_its_line_with_its_rate_and_its_requests() {
        let spec = load(
            "{capacity: {p99: 200ms, from: 50/s}, duration: 2s, timeout: 3s, cores: [0], \
             request: {path: '/{seq:1}', headers: {A: 'b ${PATH}'}}}",
        );
        let url = "http://10.0.0.7:8080";
        let plan = at_rate(&spec, url, (120.0, 8), 2, 3).expect("a plan");
        let order = Order::Send(Box::new(LoadStep::new(4, 17, url, &spec, &plan)));
        let line = serde_json::to_string(&order).expect("a line");
        let path = std::env::var("PATH").expect("a path");
        assert!(!line.contains('\n') && line.contains(&format!("b {path}")), "{line}");
        let Order::Send(step) = serde_json::from_str(&line).expect("an order") else {
            panic!("another order")
        };
        let share = LoadShare::new(1, 4).expect("a share");
        let back = step.plan(share).expect("a plan");
        assert_eq!((step.step, step.start_at_unix_ns, back.share), (4, 17, share));
        let constant = RateShape::Constant { rate_per_s: 120.0 };
        assert!(
            matches!(&back.pacing, Pacing::Open { shape, .. } if *shape == constant),
            "{:?}",
            back.pacing
        );
        assert_eq!((back.connections, back.seed, back.stop), (plan.connections, plan.seed, plan.stop));
        assert_eq!(back.request_timeout, plan.request_timeout);
        assert!(back.cores.is_empty(), "those of another machine");
        assert_eq!(PlanText::new(&back), PlanText::new(&plan));
    }

    #[test]
    fn a_load_that_needs_a_file_of_this_machine_is_found() {
        let needs = |text: &str| check_files(&load(text)).err().map(|error| error.file);
        assert_eq!(needs("{clients: 1, duration: 1s, request: '/{seq:1}'}"), None);
        let mut with_feed = load("{clients: 1, duration: 1s, request: /}");
        with_feed.request.headers.push(("A".to_owned(), Some("b {csv:users.csv:id}".to_owned())));
        let feed = check_files(&with_feed).map_err(|error| error.file);
        assert_eq!(feed, Err("{csv:users.csv:id}".to_owned()));
        let socket = needs("{clients: 1, duration: 1s, request: /, unix_socket: /run/x.sock}");
        assert_eq!(socket.as_deref(), Some("/run/x.sock"));
    }
}
