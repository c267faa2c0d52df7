//! Turns a load of an experiment (or of `threadcount load`) against a running server into a plan for the load generator.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;
use threadcount_load::plan::{LoadPlan, Pacing, PlanError, RateShape, Stop};
use threadcount_load::request::{RequestError, RequestSource, Target};
use threadcount_model::environment;
use threadcount_model::experiment::{ExternalTool, LoadKind, LoadSpec, RequestSpec, Shape, Workload};

/// The reason why a load cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum LoadPlanError {
    /// The request is invalid.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A value of the environment cannot be sent; the message does not show it.
    #[error(
        "with the value of {} in it, `{}` cannot be sent: {why}",
        names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" and "),
        text.escape_debug()
    )]
    Environment {
        /// The path, header or body as written.
        text: String,
        /// The variables in that text.
        names: Vec<String>,
        why: &'static str,
    },
    /// Settings contradict each other.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Zero clients or requests, or no end.
    #[error("the load `{load}` has {what}")]
    Empty {
        /// The load's name.
        load: String,
        /// What is missing.
        what: &'static str,
    },
}

/// Clients in the warm-up of a capacity load, which is closed so that it never asks for more than the server can do.
const WARMING_CLIENTS: u32 = 64;

/// The plan that sends `load` to the server at `url`; for a capacity load, the plan of its warm-up.
///
/// # Errors
/// The request cannot be sent, or the load has no clients or no end.
pub fn load_plan(load: &LoadSpec, url: &str) -> Result<LoadPlan, LoadPlanError> {
    let targets = load.all_requests().map(|request| target(request, url));
    let source = RequestSource::new(targets.collect::<Result<_, _>>()?)?;
    // The URL that is shown contains no values of the environment.
    let shown = format!("{}{}", source.origin(), load.request.path);
    let texts: Vec<String> = load.all_requests().flat_map(RequestSpec::texts_with_variables).collect();
    plan_of(load, source.shown_as(&shown, environment::secrets(texts.iter().map(String::as_str))))
}

/// Checks that the settings of a load do not contradict each other, whatever it requests from which server.
///
/// # Errors
/// The first contradiction.
pub fn check_settings(load: &LoadSpec) -> Result<(), LoadPlanError> {
    plan_of(load, RequestSource::new(vec![Target::get("https://localhost/")?])?).map(drop)
}

fn plan_of(load: &LoadSpec, source: RequestSource) -> Result<LoadPlan, LoadPlanError> {
    let empty = |what| LoadPlanError::Empty { load: load.name.clone(), what };
    let (clients, pacing) = match load.workload {
        Workload::Http(LoadKind::Closed { clients }) | Workload::External(ExternalTool { clients, .. }) => {
            (clients, Pacing::Closed)
        }
        Workload::Http(LoadKind::Open { rate_per_s, clients, .. }) => {
            let constant = RateShape::Constant { rate_per_s };
            (clients, open(load, load.shape.as_ref().map_or(constant, Shape::for_generator)))
        }
        Workload::Capacity(_) => (WARMING_CLIENTS, Pacing::Closed),
        Workload::Jmh(_) => return Err(empty("nothing to send: it is for a benchmark")),
    };
    let connections = NonZeroU32::new(clients).ok_or_else(|| empty("no clients"))?;
    let stop = stop(load).ok_or_else(|| empty("neither requests nor a duration"))?;
    let plan = load.sending.plan(Arc::new(source), pacing, connections, stop, load.keep_alive);
    // A closed loop never sends late.
    let plan = match load.workload {
        Workload::Capacity(_) => plan.with(|plan| plan.lateness = Duration::ZERO),
        _ => plan,
    };
    plan.check()?;
    Ok(plan)
}

/// The request with the values of the environment filled in; errors do not show the values.
fn target(request: &RequestSpec, url: &str) -> Result<Target, LoadPlanError> {
    target_with(request, RequestSpec::with_environment, url)
}

fn target_with(
    request: &RequestSpec,
    filled: impl Fn(&RequestSpec) -> RequestSpec,
    url: &str,
) -> Result<Target, LoadPlanError> {
    if !request.needs_environment() {
        return Ok(request.target(url)?);
    }
    let checked = |request: &RequestSpec| -> Result<Target, RequestError> {
        let target = request.target(url)?;
        RequestSource::new(vec![target.clone()])?;
        Ok(target)
    };
    checked(request)?;
    checked(&filled(request)).map_err(|error| {
        let why = match error {
            RequestError::Header { why, .. } => why,
            _ => "it has braces that are no placeholder",
        };
        let texts: Vec<String> = request.texts_with_variables().collect();
        let names = texts.iter().flat_map(|text| environment::names(text)).map(str::to_owned).collect();
        LoadPlanError::Environment { text: texts.join(", "), names, why }
    })
}

/// The seed of a round: all variants of a round get the same random load, and each round gets another.
#[must_use]
pub fn round_seed(seed: u64, round: u32) -> u64 {
    seed.wrapping_add(round.saturating_sub(1).into())
}

/// Distance between the seeds of two steps of a search, so large that no two steps of any rounds share a seed.
const STEP_STRIDE: u64 = 1 << 32;

/// The plan of one step of a capacity search.
///
/// # Errors
/// The errors of [`load_plan`].
pub fn at_rate(
    load: &LoadSpec,
    url: &str,
    (rate_per_s, connections): (f64, u32),
    round: u32,
    steps_before: usize,
) -> Result<LoadPlan, LoadPlanError> {
    let plan = load_plan(load, url)?;
    let connections = NonZeroU32::new(connections).unwrap_or(plan.connections);
    let seed = round_seed(plan.seed, round).wrapping_add(STEP_STRIDE.wrapping_mul(steps_before as u64));
    Ok(plan.with(|changed| {
        changed.pacing = open(load, RateShape::Constant { rate_per_s });
        changed.connections = connections;
        changed.seed = seed;
        changed.lateness = Duration::from_secs_f64(load.sending.lateness_s);
        changed.log = None;
    }))
}

/// A plan that sends one request of a load on each of `connections` connections, with a timeout.
///
/// # Errors
/// The errors of [`load_plan`].
pub fn one_request(
    load: &LoadSpec,
    url: &str,
    connections: NonZeroU32,
    limit: Duration,
) -> Result<LoadPlan, LoadPlanError> {
    let one = Stop::Either(connections.into(), limit);
    Ok(load_plan(load, url)?.with(|changed| {
        changed.connections = connections;
        changed.pacing = Pacing::Closed;
        changed.stop = one;
        changed.log = None;
        // The plan is a closed loop, and nothing waits for it.
        changed.lead_in = Duration::ZERO;
        changed.lateness = Duration::ZERO;
    }))
}

fn open(load: &LoadSpec, shape: RateShape) -> Pacing {
    Pacing::Open { shape, arrivals: load.sending.arrivals }
}

fn stop(load: &LoadSpec) -> Option<Stop> {
    let requests = load.requests.and_then(NonZeroU64::new);
    let duration = load.duration_s.map(Duration::from_secs_f64);
    match (requests, duration) {
        (Some(requests), Some(duration)) => Some(Stop::Either(requests, duration)),
        (Some(requests), None) => Some(Stop::Requests(requests)),
        (None, Some(duration)) => Some(Stop::Duration(duration)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_model::experiment::VariablesIn;

    #[test]
    fn each_round_and_each_step_of_a_search_has_arrivals_of_its_own_that_all_variants_share() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\n\
            loads: [{capacity: {p99: 200ms, from: 50/s}, poisson: true, duration: 2s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let seed = |round, steps_before| {
            let plan = at_rate(&experiment.loads[0], "http://127.0.0.1:1", (50.0, 4), round, steps_before);
            plan.expect("a plan").seed
        };
        let mut seeds: Vec<u64> = (1..=3)
            .flat_map(|round| (0..4).map(move |step| (round, step)))
            .map(|(r, s)| seed(r, s))
            .collect();
        assert_eq!(seed(2, 3), seed(2, 3), "another variant of the same round");
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 12);
    }

    #[test]
    fn a_value_that_cannot_be_sent_is_not_shown() {
        let request = |text: &str| RequestSpec {
            headers: vec![("Authorization".to_owned(), Some(text.to_owned()))],
            variables: VariablesIn { headers: true, ..VariablesIn::default() },
            ..RequestSpec::get("/")
        };
        let says = |text: &str, value: &str| {
            let filled =
                |unfilled: &RequestSpec| RequestSpec { headers: request(value).headers, ..unfilled.clone() };
            target_with(&request(text), filled, "http://127.0.0.1:1").map_err(|error| error.to_string())
        };
        assert_eq!(
            says("Bearer ${TOKEN}", "Bearer s3cret\n").unwrap_err(),
            "with the value of `TOKEN` in it, `Authorization: Bearer ${TOKEN}` cannot be sent: its value has a control \
             character, such as a line end"
        );
        let braces = says("Bearer ${TOKEN}", "{rand:9:s3cret}").unwrap_err();
        assert!(braces.contains("TOKEN") && !braces.contains("s3cret"), "{braces}");
        assert!(says("Bearer ${TOKEN}", "Bearer fine").is_ok());
        let own = says("{rand:9:1} ${TOKEN}", "fine").unwrap_err();
        assert!(own.starts_with("`{rand:9:1}` is not a placeholder"), "a mistake of the file itself: {own}");
    }
}
