//! `quick:` and `decided:`: other sizes than those of the file, for `--quick` and for a study's claims.

use super::{known, variant_list};
use std::collections::BTreeMap;
use threadcount_model::experiment::capacity::SHORTEST_STEP_S;
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_model::experiment::{Experiment, LoadSpec, Protocol, Scale, SessionSize};
use threadcount_model::metric::Metric;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, List, json_schema, map};
use threadcount_model::parse::value_kinds::{AnyDuration, Count, LargeCount, PositiveDuration, Text, WarmUp};
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::{keys, value_kinds};

/// Sizes for which the file has no figure.
struct Defaults {
    size: SessionSize,
    /// How long each load lasts at most.
    duration_s: f64,
    runs: u32,
    budget_s: Option<f64>,
}

const QUICK: Defaults = Defaults { size: SessionSize::Quick, duration_s: 10.0, runs: 3, budget_s: None };
/// The sizes for deciding a study's claims: in this budget two cores start, warm up and measure some 25 servers.
const DECIDED: Defaults =
    Defaults { size: SessionSize::Decided, duration_s: 6.0, runs: 8, budget_s: Some(660.0) };
/// The longest step of a search.
const STEP_S: f64 = 3.0;

const KEYS: &[KeySpec] = keys! {
    duration: PositiveDuration,
    requests: LargeCount,
    runs: Count,
    warmup: WarmUp,
    budget: PositiveDuration,
    variants: List<Text>,
    loads: BTreeMap<String, LoadSizeKeys>,
    only_loads: Vec<Text>,
};

const LOAD: &[KeySpec] = keys! {
    duration: PositiveDuration,
    requests: LargeCount,
    runs: Count,
    variants: List<Text>,
    warmup: AnyDuration,
    /// Cores that the clients or the rate are for; with fewer, each core still gets its share.
    for_cores: Count,
};

value_kinds! {
    /// Other sizes than those of the file.
    pub(super) SizeKeys = |generator| map(generator, KEYS, json_schema!({}));

    LoadSizeKeys = |generator| map(generator, LOAD, json_schema!({"type": ["object", "null"]}));
}

/// The changes to an experiment.
#[derive(Clone, Debug, Default)]
struct Changes {
    warmup: Option<WarmUpTime>,
    budget_s: Option<f64>,
    all: Sizes,
    loads: Vec<(String, Sizes)>,
    /// The only loads to keep; `None`: all.
    only_loads: Option<Vec<String>>,
}

/// The changes to a load.
#[derive(Clone, Debug, Default)]
struct Sizes {
    duration_s: Option<f64>,
    requests: Option<u64>,
    runs: Option<u32>,
    variants: Option<Vec<String>>,
    /// The warm-up in seconds of a load that sets its own; `None`: the experiment's.
    warmup_s: Option<f64>,
    /// The cores that the load is for.
    for_cores: Option<u32>,
}

/// Applies the sizes of the session. Both keys are read, so that a mistake in either is found whatever the session.
pub(super) fn apply(
    fields: &Fields<'_>,
    size: SessionSize,
    experiment: &mut Experiment,
) -> Result<(), Diagnostic> {
    let changes = |key, place| fields.read(key, |node| read(node, place, experiment));
    let quick = changes("quick", ["`quick`", "a load in `quick`"])?;
    let decided = changes("decided", ["`decided`", "a load in `decided`"])?;
    match size {
        SessionSize::AsWritten => {}
        SessionSize::Quick => quick.unwrap_or_default().apply(experiment, &QUICK),
        SessionSize::Decided if experiment.study.is_none() && decided.is_none() => {}
        SessionSize::Decided => decided.unwrap_or_default().apply(experiment, &DECIDED),
    }
    Ok(())
}

/// Reads the changes of one key. `places` are the names of the key, and of a load in it, for messages.
fn read(node: &Node, places: [&'static str; 2], experiment: &Experiment) -> Result<Changes, Diagnostic> {
    let fields = Fields::open(node, places[0], KEYS)?;
    let names: Vec<String> = experiment.variants.iter().map(|variant| variant.name.clone()).collect();
    let mut loads = Vec::new();
    if let Some(node) = fields.get("loads") {
        let Kind::Map(entries) = &node.kind else {
            let message = format!(
                "`loads` in {} is a map from a load's name to its sizes, and this is {}",
                places[0],
                node.noun()
            );
            return Err(Diagnostic::new(node.span.clone(), message, "expected `c400: {...}`")
                .help("write, for example, `loads: {c400: {runs: 2}}`"));
        };
        for (load, node) in entries {
            let at = Node { span: load.span.clone(), kind: Kind::Null };
            known(&at, &load.name, "load", experiment.loads.iter().map(|load| load.name.as_str()))?;
            let fields = Fields::open(node, places[1], LOAD)?;
            let warmup_s = fields.read("warmup", |node| node.seconds("warmup"))?;
            let for_cores = fields.read("for_cores", |node| {
                let cores = node.positive_u32("for_cores")?;
                let can_scale = experiment.load(&load.name).is_some_and(LoadSpec::can_scale);
                let only =
                    "only a number of clients or a constant rate is scaled to the cores of this machine";
                can_scale.then_some(cores).ok_or_else(|| {
                    Diagnostic::new(node.span.clone(), only, "not for this load")
                        .help("leave `for_cores` out")
                })
            })?;
            loads.push((load.name.clone(), Sizes { warmup_s, for_cores, ..sizes(&fields, &names)? }));
        }
    }
    Ok(Changes {
        warmup: fields.read("warmup", |node| node.warm_up("warmup"))?,
        budget_s: fields.read("budget", |node| node.positive_seconds("budget"))?,
        all: sizes(&fields, &names)?,
        loads,
        only_loads: fields.read("only_loads", |node| load_names(node, experiment))?,
    })
}

fn load_names(node: &Node, experiment: &Experiment) -> Result<Vec<String>, Diagnostic> {
    let mut names = Vec::new();
    for item in node.items("only_loads")? {
        let name = item.text("only_loads")?;
        known(item, name, "load", experiment.loads.iter().map(|load| load.name.as_str()))?;
        names.push(name.to_owned());
    }
    Ok(names)
}

fn sizes(fields: &Fields<'_>, names: &[String]) -> Result<Sizes, Diagnostic> {
    Ok(Sizes {
        duration_s: fields.read("duration", |node| node.positive_seconds("duration"))?,
        requests: fields.read("requests", |node| node.positive("requests"))?,
        runs: fields.read("runs", |node| node.positive_u32("runs"))?,
        variants: fields.read("variants", |node| variant_list(node, names))?,
        warmup_s: None,
        for_cores: None,
    })
}

impl Changes {
    fn apply(self, experiment: &mut Experiment, defaults: &Defaults) {
        experiment.size = defaults.size;
        if let Some(warmup) = self.warmup {
            experiment.set_warmup(warmup);
        }
        let shorter_s = defaults.budget_s.into_iter().chain(experiment.budget_s).reduce(f64::min);
        experiment.budget_s = self.budget_s.or(shorter_s);
        let first = experiment.loads.first().map(|load| load.name.clone());
        let mut resized = Vec::new();
        experiment.loads.retain_mut(|load| {
            if self.only_loads.as_ref().is_some_and(|only| !only.contains(&load.name)) {
                return false;
            }
            let own = self.loads.iter().find(|(name, _)| *name == load.name).map(|(_, sizes)| sizes);
            let requests = load.requests;
            let is_left = self.all.clone().with(own.cloned().unwrap_or_default()).apply(load, defaults);
            if requests != load.requests {
                resized.push(load.name.clone());
            }
            is_left
        });
        // A published duration does not hold for a load of another size.
        for published in &mut experiment.published {
            let load = published.load.as_ref().or(first.as_ref());
            if load.is_some_and(|load| resized.contains(load)) {
                published.figures.remove(Metric::Elapsed.name());
            }
        }
        experiment.published.retain(|published| !published.figures.is_empty());
    }
}

impl Sizes {
    /// These sizes, replaced by those that `own` has; a duration replaces a number of requests and the other way round.
    fn with(self, own: Self) -> Self {
        let own_size = own.duration_s.is_some() || own.requests.is_some();
        let (duration_s, requests) =
            if own_size { (own.duration_s, own.requests) } else { (self.duration_s, self.requests) };
        Self {
            duration_s,
            requests,
            runs: own.runs.or(self.runs),
            variants: own.variants.or(self.variants),
            warmup_s: own.warmup_s,
            for_cores: own.for_cores,
        }
    }

    /// Applies the sizes to a load. Returns `false` if no variant is left under it.
    fn apply(self, load: &mut LoadSpec, defaults: &Defaults) -> bool {
        (load.duration_s, load.requests) = match (self.duration_s, self.requests) {
            // The steps of a capacity load have no number of requests, and short steps show nothing.
            (duration_s, _) if load.workload.capacity().is_some() => {
                let own_s = load.duration_s.map_or(STEP_S, |own_s| own_s.min(STEP_S));
                (Some(duration_s.unwrap_or(own_s).max(SHORTEST_STEP_S)), None)
            }
            (iteration_s, _) if !load.workload.needs_server() => (iteration_s.or(load.duration_s), None),
            (None, None) => {
                (Some(load.duration_s.map_or(defaults.duration_s, |own| own.min(defaults.duration_s))), None)
            }
            sizes => sizes,
        };
        // A shorter ramp climbs to the same rate.
        load.shape = load.shape.take().map(|shape| match load.duration_s {
            Some(seconds) if seconds < shape.lasts_s() => shape.within(seconds),
            _ => shape,
        });
        load.scale = self.for_cores.map(Scale::new);
        load.warmup_s = self.warmup_s.or(load.warmup_s);
        load.runs = self.runs.unwrap_or_else(|| load.runs.min(defaults.runs));
        load.protocol = Protocol::adaptive(defaults.size == SessionSize::Quick);
        self.variants.is_none_or(|variants| load.keep_only(&variants))
    }
}
