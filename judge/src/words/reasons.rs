//! Sentences for the reasons in a result: doubts, interference, untried claims, ended rounds.

use std::borrow::Cow;
use threadcount_model::backend_limit::BackendLimit;
use threadcount_model::claim_result::NotTried;
use threadcount_model::doubt::{Doubt, DoubtReason, TrustGrade};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::record::interference::{BusiestProcess, Interference};
use threadcount_model::record::resource_limits::SharedGroup;
use threadcount_model::record::{SteadyBy, WarmUpFigure};
use threadcount_model::rounds::RoundsEnd;

/// A doubt with the runs that it is about: `virtual under c400: a run failed: ... (and in 2 more of its runs)`.
#[must_use]
pub fn doubt(doubt: &Doubt) -> String {
    let also = match doubt.runs {
        runs if runs > 1 && doubt.reason.is_about_a_run() => {
            format!(" (and in {} more of its runs)", figures::count((runs - 1).into()))
        }
        _ => String::new(),
    };
    format!("{} under {}: {}{also}", doubt.variant, doubt.load, reason(doubt))
}

#[must_use]
pub const fn grade(grade: TrustGrade) -> &'static str {
    match grade {
        TrustGrade::Good => "good",
        TrustGrade::Fair => "fair",
        TrustGrade::Poor => "poor",
    }
}

/// The conclusion that figures still allow although this reason makes them only fair.
#[must_use]
pub const fn allows(reason: &DoubtReason) -> &'static str {
    match reason {
        DoubtReason::SingleRun => "it shows directions only",
        DoubtReason::RunInterrupted | DoubtReason::NeverRan => "the figures are those of complete runs",
        DoubtReason::NoOverload => "these servers keep up",
        DoubtReason::RateMissed { .. } => "below its capacity the server responds faster",
        DoubtReason::WideSpread { .. } => "the intervals of ratios include it",
        DoubtReason::NotSteady { .. } => "ratios hold for servers this warm",
        DoubtReason::UnequallyWarm { .. } => "their difference may be that of a cold JVM",
        DoubtReason::CompilerBusy { .. } => "CPU per request includes it",
        DoubtReason::SharedMachine { .. } => "the intervals include it",
        DoubtReason::SharedSchedulingGroup { .. } => "ratios hold for this machine",
        _ => "the figures are those of the other runs",
    }
}

/// The doubt in a few words, for a column: without the figures and advice in the result's own report.
#[must_use]
pub fn doubt_in_short(doubt: &Doubt) -> String {
    format!("{} ({} under {})", in_short(&doubt.reason), doubt.variant, doubt.load)
}

/// The problem in a few words.
#[must_use]
pub fn in_short(reason: &DoubtReason) -> Cow<'static, str> {
    let problem = match reason {
        DoubtReason::Interference { by, .. } | DoubtReason::SharedMachine { by }
            if let Interference::OtherProcesses { session: Some(pid), .. } = by =>
        {
            return format!("another threadcount session, process {pid}, used the same cores").into();
        }
        DoubtReason::RunFailed { .. } => "a run failed",
        DoubtReason::RunInterrupted => "a run was interrupted",
        DoubtReason::NeverRan => "planned, but never ran",
        DoubtReason::GeneratorBottleneck { .. } | DoubtReason::GeneratorBelowCapacity { .. } => {
            "the load generator was the bottleneck, not the server"
        }
        DoubtReason::BackendLimit { .. } => "a server behind the server was the limit",
        DoubtReason::RequestsFailed { .. } => "requests failed",
        DoubtReason::NoResponse { .. } => "some requests had no response",
        DoubtReason::AcceptQueueOverflow { .. } => "the accept queue overflowed",
        DoubtReason::Interference { .. } => "a run with interference",
        DoubtReason::SharedMachine { .. } => "other processes used the machine",
        DoubtReason::SharedSchedulingGroup { .. } => "load generator and server share a scheduling group",
        DoubtReason::LeftOut { .. } => "a run with interference is left out",
        DoubtReason::NoOverload => "no overload on this machine",
        DoubtReason::RateMissed { .. } => "the requested rate was not reached",
        DoubtReason::NotSteady { .. } => "no steady state when measuring began",
        DoubtReason::UnequallyWarm { than, .. } => {
            return format!("a JVM less warm than that of {}", figures::listed(than)).into();
        }
        DoubtReason::CompilerBusy { .. } => "the compiler was busy while measuring",
        DoubtReason::WideSpread { .. } => "the runs differ a lot",
        DoubtReason::SingleRun => "one valid run: no interval",
    };
    problem.into()
}

/// The problem, without its runs.
#[must_use]
pub fn reason(doubt: &Doubt) -> String {
    match &doubt.reason {
        DoubtReason::RunFailed { why } => format!("a run failed: {why}"),
        DoubtReason::RunInterrupted => "a run was interrupted by the user; it does not count".to_owned(),
        DoubtReason::NeverRan => "planned, but never ran".to_owned(),
        DoubtReason::GeneratorBottleneck { why } => {
            let why = why.as_deref().unwrap_or("it could not send faster");
            format!("the load generator was the bottleneck, not the server: {why}")
        }
        DoubtReason::GeneratorBelowCapacity { above_per_s } => format!(
            "above {} the load generator was the bottleneck, not the server",
            figures::figure(Metric::Rate, *above_per_s)
        ),
        DoubtReason::BackendLimit { backend, by } => {
            format!("the backend `{backend}` was the limit, not the server's threads: {}", backend_limit(by))
        }
        DoubtReason::RequestsFailed { failed, sent, cause } => format!(
            "{} of {} requests failed ({}), mostly {}",
            figures::count(*failed),
            figures::count(*sent),
            figures::percent(*failed as f64 / (*sent).max(1) as f64),
            cause.as_deref().unwrap_or("unknown")
        ),
        DoubtReason::NoResponse { oldest_s } => format!(
            "some requests had no response, the oldest for {oldest_s:.1} s; all others were much faster"
        ),
        DoubtReason::AcceptQueueOverflow { overflows } => format!(
            "the server's accept queue overflowed {}, and such connections are retried after 1 s. Set `accept_count` \
             above the number of clients",
            figures::plural(*overflows as usize, "time")
        ),
        DoubtReason::Interference { by, kept: false } => interference(by),
        DoubtReason::Interference { by, kept: true } => {
            format!("{} (kept: otherwise too few runs remain)", interference(by))
        }
        DoubtReason::SharedMachine { by } => {
            format!("{}; a quarter of the machine or more stayed idle", interference(by))
        }
        DoubtReason::SharedSchedulingGroup { group } => shared_group(*group),
        DoubtReason::LeftOut { by } => {
            format!("left out of the figures: {}", interference(by))
        }
        DoubtReason::NoOverload => {
            "this load was no overload on this machine: no variant was behind, and no request failed. Raise its rate".to_owned()
        }
        DoubtReason::RateMissed { asked_per_s, sent_per_s, completed_per_s } => {
            let rate = |rate: f64| figures::figure(Metric::Rate, rate);
            format!(
                "the requested rate of {} was not reached: {} sent, {} completed",
                rate(*asked_per_s),
                rate(*sent_per_s),
                rate(*completed_per_s)
            )
        }
        DoubtReason::NotSteady { judged_by, after_s, unsteady } => format!(
            "still warming up when measuring began: {} after {after_s:.0} s; use a longer `warmup`",
            not_steady(*judged_by, unsteady)
        ),
        DoubtReason::UnequallyWarm { than, judged_runs } => {
            let whose = if than.len() == 1 { "that" } else { "those" };
            format!(
                "not equally warm: its warm-up ended before steady state in {} of {}, and {whose} of {} did not. A difference may \
                 be that of a warm and a cold JVM. Use a longer `warmup`",
                doubt.runs,
                figures::plural(*judged_runs as usize, "run"),
                figures::listed(than)
            )
        }
        DoubtReason::CompilerBusy { share } => format!(
            "the JVM's compiler took {} of the server's CPU while measuring. CPU per request is not that of a warm server. Use a \
             longer `warmup`",
            figures::percent(*share)
        ),
        DoubtReason::WideSpread { metric, share } => format!(
            "the {} of its {} differ by {} (interference, or too short a warm-up)",
            if *metric == Metric::Score { "scores" } else { "rates" },
            figures::plural(doubt.runs as usize, "run"),
            figures::percent(*share)
        ),
        DoubtReason::SingleRun => "one valid run: no interval. Use --runs 3 or more".to_owned(),
    }
}

/// Explains that the load generator and the server share the CPU in a way that a client on another machine would not.
#[must_use]
pub fn shared_group(group: SharedGroup) -> String {
    let instead = match group {
        SharedGroup::Session => "start the server with `setsid`",
        SharedGroup::ControlGroup | SharedGroup::Machine => "give the server a control group",
    };
    format!("the load generator and the server share a scheduling group, so many threads gain; {instead}")
}

/// Why a server behind the server is the limit.
#[must_use]
pub fn backend_limit(limit: &BackendLimit) -> String {
    match *limit {
        BackendLimit::Cpu { cpu_cores, cores_in_use, cores: 1 } => {
            format!("it uses {cpu_cores:.2} of the {cores_in_use:.2} in use of its core, which is full")
        }
        BackendLimit::Cpu { cpu_cores, cores_in_use, cores } => {
            format!("it uses {cpu_cores:.2} of {cores_in_use:.2} cores in use on its {cores} full cores")
        }
        BackendLimit::OneThread { thread_cores, .. } => {
            format!("one of its threads does nearly all work and uses {thread_cores:.2} of a core")
        }
        BackendLimit::Connections { connections, limit } => format!(
            "{} of the {} connections that it accepts are open, and requests wait for one",
            figures::whole(connections),
            figures::count(limit.into())
        ),
    }
}

/// The interference during a run.
#[must_use]
pub fn interference(by: &Interference) -> String {
    match by {
        Interference::Steal { cores, of_cores } => format!(
            "CPU steal: {cores:.2} of {}; measure again when the host is quieter",
            figures::plural(*of_cores as usize, "core")
        ),
        Interference::OtherProcesses { cores, of_cores, session, busiest } => {
            let used =
                format!("other processes used {cores:.2} of {}", figures::plural(*of_cores as usize, "core"));
            match (session, busiest) {
                (Some(pid), _) => format!(
                    "{used}, another threadcount session (process {pid}) among them; measure again after its end"
                ),
                (None, Some(busiest)) => {
                    let most = busiest.cores.min(*cores);
                    format!(
                        "{used}, {most:.2} of it {}; stop them and measure again",
                        busiest_process(busiest)
                    )
                }
                (None, None) => format!("{used}; stop them and measure again"),
            }
        }
    }
}

/// The name and id of a process that is not part of a run.
#[must_use]
pub fn busiest_process(busiest: &BusiestProcess) -> String {
    format!("`{}` (process {})", busiest.name, busiest.pid)
}

/// The figures that had not settled when a warm-up ended.
fn not_steady(judged_by: SteadyBy, unsteady: &[WarmUpFigure]) -> String {
    let level: Vec<&str> = unsteady.iter().filter_map(|figure| level_figure(*figure)).collect();
    let busy = unsteady.iter().filter_map(|figure| busy_figure(*figure)).map(str::to_owned);
    let busy: Vec<String> = busy.collect();
    let level = match level.as_slice() {
        [] if !busy.is_empty() => None,
        [] => Some(format!("the {}", steady_by(judged_by))),
        names => Some(format!("the {}", names.join(" and the "))),
    };
    let level = level.map(|names| format!("{names} had not reached steady state"));
    level.into_iter().chain(busy).collect::<Vec<_>>().join(" and ")
}

const fn level_figure(figure: WarmUpFigure) -> Option<&'static str> {
    match figure {
        WarmUpFigure::Rate => Some("rate"),
        WarmUpFigure::Cpu => Some("CPU"),
        WarmUpFigure::CpuPerRequest => Some("CPU per request"),
        WarmUpFigure::Compiler | WarmUpFigure::ClassLoading => None,
    }
}

const fn busy_figure(figure: WarmUpFigure) -> Option<&'static str> {
    match figure {
        WarmUpFigure::Compiler => Some("the JVM's compiler was still busy"),
        WarmUpFigure::ClassLoading => Some("the JVM was still loading classes"),
        _ => None,
    }
}

/// The figure that had to reach steady state for the warm-up to end.
#[must_use]
pub const fn steady_by(by: SteadyBy) -> &'static str {
    match by {
        SteadyBy::Rate => "rate",
        SteadyBy::RateAndCpu => "rate or the CPU",
    }
}

/// Why a claim was not tested.
#[must_use]
pub fn not_tried(why: &NotTried) -> String {
    match why {
        NotTried::Skipped { why } => format!("not testable here: {why}"),
        NotTried::NoSuchLoad { load } => format!("there is no load `{load}`"),
        NotTried::NoCompleteRun { variant, load } => {
            format!("there is no complete run of {variant} under {load}")
        }
        NotTried::NotMeasured { metric, variant, load } => {
            format!("{} of {variant} under {load} was not measured", metric.name())
        }
        NotTried::DividesByZero => "it divides by zero".to_owned(),
        NotTried::Unreadable { why } => why.clone(),
    }
}

/// Why the rounds of a load ended, in words that follow "3 rounds, ".
#[must_use]
pub const fn rounds_end(end: RoundsEnd) -> &'static str {
    match end {
        RoundsEnd::ComparisonsDecided => "each planned comparison is decided",
        RoundsEnd::ClaimsDecided => "each claim is decided",
        RoundsEnd::AllDecided => "each planned comparison and each claim is decided",
        RoundsEnd::AsRequested => "as requested",
        RoundsEnd::BudgetUsed => "the time budget is used up",
        RoundsEnd::Interrupted => "interrupted",
        RoundsEnd::DiskFull => "the disk is full",
        RoundsEnd::VariantFailed => "a variant does not work",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubt_names_its_runs_and_in_short_leaves_figures_and_advice_to_the_report() {
        let reason =
            DoubtReason::RequestsFailed { failed: 10, sent: 1_000, cause: Some("timeout".to_owned()) };
        let about = Doubt { variant: "cpp".to_owned(), load: "ab".to_owned(), runs: 2, reason };
        assert_eq!(
            doubt(&about),
            "cpp under ab: 10 of 1,000 requests failed (1.0 %), mostly timeout (and in 1 more of its runs)"
        );
        assert_eq!(doubt_in_short(&about), "requests failed (cpp under ab)");
    }

    #[test]
    fn another_session_or_the_busiest_process_is_named_where_one_ran() {
        let sentences = |session, busiest| {
            let by = Interference::OtherProcesses { cores: 0.9, of_cores: 2, session, busiest };
            (interference(&by), in_short(&DoubtReason::Interference { by, kept: false }).into_owned())
        };
        let busiest = |cores| Some(BusiestProcess { name: "postgres".to_owned(), pid: 4711, cores });
        let (long, short) = sentences(Some(4242), busiest(0.5));
        let used = "other processes used 0.90 of 2 cores";
        assert_eq!(
            long,
            format!(
                "{used}, another threadcount session (process 4242) among them; measure again after its end"
            )
        );
        assert_eq!(short, "another threadcount session, process 4242, used the same cores");
        let alone = (format!("{used}; stop them and measure again"), "a run with interference".to_owned());
        assert_eq!(sentences(None, None), alone);
        let named = format!("{used}, 0.50 of it `postgres` (process 4711); stop them and measure again");
        assert_eq!(sentences(None, busiest(0.5)).0, named);
        let more = "its children had used some before";
        assert!(sentences(None, busiest(1.2)).0.contains("0.90 of it `postgres`"), "{more}");
    }
}
