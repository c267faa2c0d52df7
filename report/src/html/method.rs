//! The method section of the page: everything needed to repeat the measurement.

use crate::load_words::load_words;
use crate::observing::observations;
use crate::sentences::distinct;
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::experiment::{Body, Experiment, LoadSpec, RequestSpec, SessionSize, Variant};
use threadcount_model::figures;
use threadcount_model::record::{BackendFacts, Record};

/// A fact with its name.
pub type Fact = (&'static str, String);

/// Everything needed to repeat the experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Method {
    /// The command that made the result.
    pub command: String,
    pub facts: Vec<Fact>,
    pub variants: Vec<VariantMethod>,
    /// One for each load.
    pub loads: Vec<LoadMethod>,
    /// Runs without figures.
    pub failures: Vec<FailedRun>,
}

/// The way a variant was started.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantMethod {
    pub name: String,
    pub note: Option<String>,
    /// Facts about its server, JVM and threads.
    pub facts: Vec<Fact>,
    /// The exact command line of its first run, with its environment in front.
    pub command: String,
}

/// The settings of a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadMethod {
    pub words: String,
    pub facts: Vec<Fact>,
}

/// A run without figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedRun {
    pub title: String,
    pub why: String,
    /// The last lines of the server's log.
    pub log: String,
}

/// Reads the method out of a result.
#[must_use]
pub fn method(document: &ResultDocument) -> Method {
    let experiment = &document.experiment;
    Method {
        command: shell_line(&document.command),
        facts: facts(document),
        variants: ran(document).map(|name| variant_method(document, name)).collect(),
        loads: experiment.loads.iter().map(|load| load_method(document, load)).collect(),
        failures: document.records.iter().filter_map(failed_run).collect(),
    }
}

/// The names of the variants that ran; `--variant` leaves the others out.
pub(super) fn ran(document: &ResultDocument) -> impl Iterator<Item = &String> {
    let names = document.experiment.variants.iter().map(|variant| &variant.name);
    names.filter(|name| document.records.iter().any(|record| record.variant == **name))
}

fn facts(document: &ResultDocument) -> Vec<Fact> {
    let machine = &document.machine;
    let sizes = match document.experiment.size {
        SessionSize::AsWritten => "",
        SessionSize::Decided => ", in short runs (--published has the sizes of the study)",
        SessionSize::Quick => ", with the small sizes of --quick",
    };
    let order: Vec<&str> = document.records.iter().map(|record| record.variant.as_str()).collect();
    vec![
        (
            "made by",
            format!("Threadcount {}, {}{sizes}", document.threadcount, figures::moment(&document.created_at)),
        ),
        ("processor", format!("{}, {}", machine.cpu, figures::plural(machine.cores as usize, "core"))),
        ("memory", figures::bytes(machine.memory_bytes)),
        ("system", format!("{}, Linux {}", machine.os, machine.kernel)),
        ("virtualization", machine.virtualization.clone().unwrap_or_else(|| "none seen".to_owned())),
        ("open files allowed", figures::count(machine.max_open_files)),
        ("warm-up", warm_up(&document.experiment)),
        ("observing from inside", observing(document)),
        ("order of the runs", format!("{}: {}", processes(&document.experiment), order.join(", "))),
    ]
}

fn processes(experiment: &Experiment) -> &'static str {
    let runs_already = |variant: &Variant| variant.target().is_some();
    match (experiment.starts_any(), experiment.variants.iter().any(runs_already)) {
        (true, false) => "each in a fresh process",
        (true, true) => "each in a fresh process, but those at a URL, which run already",
        (false, _) => "on servers that run already, whose machine this page does not know",
    }
}

fn observing(document: &ResultDocument) -> String {
    if !document.experiment.starts_any() {
        return "not possible: of servers that run already only responses were seen".to_owned();
    }
    let costs = observations(document);
    if costs.is_empty() {
        return "nothing was in the JVM while figures were taken, and no explaining window followed"
            .to_owned();
    }
    format!("in a window of its own after the measured one: {}", costs.join("; "))
}

/// The warm-up lengths; loads may have their own, and each length appears once.
fn warm_up(experiment: &Experiment) -> String {
    let lengths = experiment.loads.iter().map(|load| figures::plain(experiment.longest_warmup_s(load)));
    let lengths = distinct(lengths);
    if lengths == ["0"] {
        return "none: each run measures a cold server".to_owned();
    }
    let lengths = lengths.join(" or ");
    format!("the same load before each run until the server is warm, at most {lengths} s, not measured")
}

fn variant_method(document: &ResultDocument, name: &str) -> VariantMethod {
    let variant = document.experiment.variant(name);
    let runs: Vec<&Record> = document.records.iter().filter(|record| record.variant == name).collect();
    let each = |read: &dyn Fn(&Record) -> Option<String>| distinct(runs.iter().filter_map(|run| read(run)));
    let thread = |run: &Record| {
        let thread = run.server.request_thread.as_ref()?;
        Some(format!("{} ({})", thread.name, thread.kind().words()))
    };
    let facts = [
        ("server", each(&|run| run.server.product.clone())),
        ("Java", each(&|run| run.server.java.clone())),
        ("JVM flags", variant.map(|variant| vec![variant.jvm.join(" ")]).unwrap_or_default()),
        ("JVM flags as the JVM reports them", each(&flags)),
        ("servers behind it", each(&|run| backends(&run.server.backends))),
        ("request thread", each(&thread)),
        ("request threads at most", each(&|run| Some(figures::count(run.server.pool_max_threads?.into())))),
        ("rate at the end of the warm-up", each(&settled)),
        ("thread dump", each(&|run| run.thread_dump.clone())),
    ];
    let facts = facts.into_iter().map(|(what, texts)| (what, texts.join("; ")));
    let first = runs.first().map(|run| &run.server);
    VariantMethod {
        name: name.to_owned(),
        note: variant.and_then(|variant| variant.note.clone()),
        facts: facts.filter(|(_, text)| !text.is_empty()).collect(),
        command: first.map_or_else(String::new, |server| {
            let words: Vec<String> = server.env.iter().chain(&server.command).cloned().collect();
            shell_line(&words)
        }),
    }
}

fn flags(run: &Record) -> Option<String> {
    let flags = &run.server.jvm_flags;
    (!flags.is_empty()).then(|| flags.join(" "))
}

/// The servers behind the server, each with its name and command line.
fn backends(backends: &[BackendFacts]) -> Option<String> {
    let words = backends.iter().map(|BackendFacts { name, command, java, .. }| {
        let java = java.as_ref().map_or_else(String::new, |java| format!(" (Java {java})"));
        format!("{name}: {}{java}", shell_line(command))
    });
    (!backends.is_empty()).then(|| words.collect::<Vec<_>>().join("; "))
}

fn settled(run: &Record) -> Option<String> {
    let last = run.warmup_rate_per_s.last()?;
    Some(format!("{}/s (run {})", figures::number(*last), run.position))
}

fn load_method(document: &ResultDocument, load: &LoadSpec) -> LoadMethod {
    let run = document.records.iter().filter(|record| record.load == load.name);
    let report = run.filter_map(|record| record.measured.as_ref()).next();
    let end = [
        load.requests.map(|requests| format!("{} requests", figures::count(requests))),
        load.duration_s.map(|seconds| format!("{} s", figures::plain(seconds))),
    ];
    let end: Vec<String> = end.into_iter().flatten().collect();
    let mut facts = requests(load);
    facts.extend(load.sending.unusual());
    facts.extend([("measured", end.join(" or ")), ("rounds", rounds(document, load))]);
    if let Some(report) = report {
        let threads = figures::plural(report.plan.threads as usize, "generator thread");
        facts.push(("connections", figures::count(report.plan.connections.into())));
        facts.push(("carried by", format!("{} over {}, {threads}", report.protocol, report.driver)));
    }
    facts.retain(|(_, text)| !text.is_empty());
    LoadMethod { words: load_words(load), facts }
}

/// The requests of a load; of many, only the first ten, because `result.json` holds the rest.
fn requests(load: &LoadSpec) -> Vec<Fact> {
    const SHOWN: usize = 10;
    let body = |request: &RequestSpec| request.body.as_ref().map(Body::words).unwrap_or_default();
    let many = load.all_requests().count();
    if many == 1 {
        let request = &load.request;
        return vec![("request", request.line()), ("headers", headers(request)), ("body", body(request))];
    }
    let line = |request: &RequestSpec| {
        let weight =
            if request.weight.get() > 1 { format!("weight {}", request.weight) } else { String::new() };
        let body = request.body.as_ref().map(|body| format!("body {}", body.words())).unwrap_or_default();
        let mut more = vec![weight, headers(request), body];
        more.retain(|text| !text.is_empty());
        let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
        format!("{}{more}", request.line())
    };
    let mut lines: Vec<String> = load.all_requests().take(SHOWN).map(line).collect();
    if many > SHOWN {
        lines.push(format!("and {} more, which are in result.json", many - SHOWN));
    }
    vec![("requests", lines.join(" · "))]
}

fn headers(request: &RequestSpec) -> String {
    let header = |(name, value): &(String, Option<String>)| match value {
        Some(value) => format!("{name}: {value}"),
        None => format!("no {name}"),
    };
    request.headers.iter().map(header).collect::<Vec<_>>().join("; ")
}

/// The number of rounds, how many are left out, and why they ended.
fn rounds(document: &ResultDocument, load: &LoadSpec) -> String {
    let counted = match load.dropped_rounds() {
        0 => String::new(),
        drop => format!(", the first {drop} of them left out of all figures"),
    };
    match document.rounds.iter().find(|done| done.load == load.name) {
        Some(done) => {
            format!("{} of at most {}{counted}: {}", done.rounds, done.at_most, reasons::rounds_end(done.why))
        }
        None => format!("{}{counted}", load.runs),
    }
}

fn failed_run(record: &Record) -> Option<FailedRun> {
    let failure = record.failure.as_ref()?;
    Some(FailedRun {
        title: format!("Run {}: {} under {}", record.position, record.variant, record.load),
        why: failure.why.clone(),
        log: failure.log_tail.join("\n"),
    })
}

/// Words quoted for a POSIX shell. Only a NUL cannot be quoted, and no argument of a process contains one.
fn shell_line(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let words = ["java", "-Dname=it's here", "", "a;b"].map(str::to_owned);
        assert_eq!(shell_line(&words), r#"java "-Dname=it's here" '' 'a;b'"#);
        assert_eq!(shlex::split(&shell_line(&words)).as_deref(), Some(words.as_slice()));
    }
}
