//! The lines to set: what a user pastes into the configuration of the framework that was measured, with the reason for each.

use crate::crossover::answer::decided;
use crate::crossover::name;
use crate::view::answer::asked;
use serde::Serialize;
use threadcount_judge::forecast::{self, Connections, Forecast};
use threadcount_judge::result::ResultDocument;
use threadcount_model::crossover::Treatment;
use threadcount_model::experiment::Variant;
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::record::jvm::PoolKind;
use threadcount_stats::crossover::comparison::CrossoverDocument;
use threadcount_stats::decision::Decision;

/// A larger pool of connections is proposed only if it gives this many times as many connections; a full CPU leaves no use for them.
const LEAST_GROWTH: f64 = 1.1;

/// The reason for the settings of a variant that is the answer.
const BETTER: &str = "better, in nothing shown worse";

/// A line to paste.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// `spring.threads.virtual.enabled=true`.
    pub line: String,
    /// The reason without a full stop.
    pub why: String,
}

/// At most three lines; none if nothing is to be changed.
#[must_use]
pub fn settings(document: &ResultDocument) -> Vec<Setting> {
    match &document.crossover {
        Some(crossover) => crossover_settings(crossover, &document.experiment.variants),
        None => of_runs(document),
    }
}

/// The settings after a crossover; `variants` were planned for the server, and none for one that ran already.
#[must_use]
pub fn crossover_settings(measured: &CrossoverDocument, variants: &[Variant]) -> Vec<Setting> {
    let crossover = &measured.crossover;
    let spring = match variants {
        [] => Spring::Maybe,
        planned if planned.iter().any(|it| it.kind_setting().is_some()) => Spring::Yes,
        _ => Spring::No,
    };
    let configured = Configured::new(&crossover.server, spring);
    let Some((treatment, decision)) = decided(measured) else { return Vec::new() };
    let os_threads = |treatment: Treatment| {
        let alone = crossover.alone.iter().find(|it| it.variant == treatment.to_string())?;
        Metric::OsThreads.of(alone)
    };
    let pool = |threads| Treatment::Platform { threads };
    let settings = match (treatment, decision) {
        (_, Decision::OnlyTheNumber(threads)) => {
            let better = name(crossover, treatment);
            vec![
                configured.pool(threads, &as_good(&better, os_threads(pool(threads)))),
                configured
                    .virtual_threads(&format!("instead of the line above{}", on(os_threads(treatment)))),
            ]
        }
        (Treatment::Virtual { limit: None }, Decision::Yes) => {
            vec![configured.virtual_threads(BETTER)]
        }
        (Treatment::Platform { threads }, Decision::Yes) if crossover.own_threads.is_some() => {
            vec![configured.pool(threads, BETTER)]
        }
        _ => Vec::new(),
    };
    let is_chosen = matches!(decision, Decision::Yes | Decision::Trade);
    let forecast = is_chosen.then(|| forecast::of_treatment(measured, treatment)).flatten();
    let connections = connections(forecast, spring);
    settings.into_iter().flatten().chain(connections).collect()
}

fn of_runs(document: &ResultDocument) -> Vec<Setting> {
    let Some((variant, decision)) = asked(document) else { return Vec::new() };
    let experiment = &document.experiment;
    let load = experiment.loads.iter().find(|load| !document.counted_runs(&variant, &load.name).is_empty());
    let Some((load, variant)) = load.zip(experiment.variant(&variant)) else { return Vec::new() };
    let is_on_virtual = experiment.virtual_variant(load).is_some_and(|it| it.name == variant.name);
    let run_of = |variant: &Variant| document.counted_runs(&variant.name, &load.name).first().copied();
    let spring = if variant.kind_setting().is_some() { Spring::Yes } else { Spring::No };
    // The product of a jar is the name of its file.
    let product = run_of(variant).filter(|_| spring == Spring::No).and_then(|it| it.server.product.clone());
    let product = product.unwrap_or_default();
    let variables = experiment.variants.iter().flat_map(|it| it.env.keys());
    let configured = Configured::new(&variables.fold(product, |words, name| words + " " + name), spring);
    let os_threads = |name: &str| document.mean(name, &load.name, Metric::OsThreads);
    let sized = |threads| experiment.variants.iter().find(|it| it.written_pool(load) == Some(threads));
    let settings = match decision {
        Decision::OnlyTheNumber(threads) => vec![
            configured
                .pool(threads, &as_good(&variant.name, sized(threads).and_then(|it| os_threads(&it.name)))),
            configured
                .virtual_threads(&format!("instead of the line above{}", on(os_threads(&variant.name)))),
        ],
        Decision::Yes if is_on_virtual => {
            vec![configured.virtual_threads(BETTER)]
        }
        Decision::Yes => {
            let is_on_pools = experiment.baseline(load).is_some_and(|it| !it.is_on_virtual_threads());
            let pool = variant.written_pool(load).filter(|_| is_on_pools);
            vec![pool.and_then(|threads| configured.pool(threads, BETTER))]
        }
        _ => Vec::new(),
    };
    let is_chosen = matches!(decision, Decision::Yes | Decision::Trade);
    let forecast = is_chosen.then(|| forecast::of_runs(document, &variant.name, load)).flatten();
    let connections = connections(forecast, spring);
    settings.into_iter().flatten().chain(connections).collect()
}

fn as_good(better: &str, os_threads: Option<f64>) -> String {
    format!("as good as {better}{}", on(os_threads))
}

/// `, with 424 OS threads`.
fn on(os_threads: Option<f64>) -> String {
    os_threads.map_or_else(String::new, |threads| {
        format!(", with {} OS threads", figures::figure(Metric::OsThreads, threads))
    })
}

/// HikariCP's size if its connections are the next limit.
fn connections(forecast: Option<Forecast>, spring: Spring) -> Option<Setting> {
    let Connections { pool, enough } = forecast?.enough_connections?;
    let now = f64::from(pool.max?);
    if pool.kind != PoolKind::Hikari || enough < LEAST_GROWTH * now {
        return None;
    }
    let size = figures::whole(enough);
    let why = format!(
        "the {} connections of {} are the limit; {size} would not be, if the database can serve them",
        figures::whole(now),
        pool.name
    );
    let own = format!("maximumPoolSize={size}");
    Configured { server: None, spring }.either(
        format!("spring.datasource.hikari.maximum-pool-size={size}"),
        Some(own),
        &why,
    )
}

/// Whether Spring Boot configures the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spring {
    Yes,
    No,
    /// A server that was running already: its framework is not known.
    Maybe,
}

/// Where the threads of the measured server are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Configured {
    server: Option<KnownServer>,
    spring: Spring,
}

/// A server whose settings are known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownServer {
    Tomcat,
    Jetty,
    Undertow,
}

impl Configured {
    /// The settings of the server that these words name, in any spelling: a product, or variables that set it.
    fn new(words: &str, spring: Spring) -> Self {
        let words = words.to_lowercase();
        let known = [
            ("tomcat", KnownServer::Tomcat),
            ("jetty", KnownServer::Jetty),
            ("undertow", KnownServer::Undertow),
        ];
        let server = known.into_iter().find(|(name, _)| words.contains(name)).map(|(_, server)| server);
        Self { server, spring }
    }

    fn virtual_threads(self, why: &str) -> Option<Setting> {
        if self.server.is_none() && self.spring != Spring::Yes {
            return None;
        }
        // A Jetty with its module for virtual threads has a limit that was not measured.
        let own = match self.server {
            Some(KnownServer::Tomcat) => Some("useVirtualThreads=\"true\" at the Connector in server.xml"),
            _ => None,
        };
        self.either("spring.threads.virtual.enabled=true".to_owned(), own.map(str::to_owned), why)
    }

    fn pool(self, threads: u32, why: &str) -> Option<Setting> {
        let (of_spring, own) = match self.server? {
            KnownServer::Tomcat => (
                "server.tomcat.threads.max",
                format!("maxThreads=\"{threads}\" at the Connector in server.xml"),
            ),
            KnownServer::Jetty => {
                ("server.jetty.threads.max", format!("jetty.threadPool.maxThreads={threads}"))
            }
            KnownServer::Undertow => {
                ("server.undertow.threads.worker", format!("Undertow.builder().setWorkerThreads({threads})"))
            }
        };
        self.either(format!("{of_spring}={threads}"), Some(own), why)
    }

    /// Spring Boot's line, the server's own, or both where nobody knows which one applies.
    fn either(self, of_spring: String, own: Option<String>, why: &str) -> Option<Setting> {
        let why = why.to_owned();
        match (self.spring, own) {
            (Spring::No, own) => own.map(|line| Setting { line, why }),
            (Spring::Maybe, Some(own)) => {
                Some(Setting { line: of_spring, why: format!("{why}; without Spring Boot {own}") })
            }
            _ => Some(Setting { line: of_spring, why }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use threadcount_model::record::jvm::Pool;

    fn lines(document: &CrossoverDocument) -> Vec<String> {
        crossover_settings(document, &[]).into_iter().map(|it| it.line).collect()
    }

    /// A crossover in which virtual threads have 1.11 times the throughput, and these times the median and the p99.
    fn crossover(times: f64, threads: Option<u32>) -> CrossoverDocument {
        let virtual_threads = Treatment::Virtual { limit: None };
        let mut made = sample::crossover(10, 0.01).crossover;
        made.server = "Tomcat 11.0.24".to_owned();
        made.periods.iter_mut().filter(|it| it.treatment == virtual_threads).for_each(|it| {
            it.response_times.weighted_ms.iter_mut().for_each(|(ms, _)| *ms *= times);
        });
        if let Some(threads) = threads {
            let treatment = Treatment::Platform { threads };
            let alike: Vec<_> =
                made.periods.iter().filter(|it| it.treatment == virtual_threads).cloned().collect();
            made.periods.extend(
                alike.into_iter().map(|it| threadcount_model::crossover::CrossoverPeriod { treatment, ..it }),
            );
            made.treatments.push(treatment);
        }
        made.into()
    }

    #[test]
    fn a_yes_has_the_line_of_virtual_threads_and_a_pool_that_is_as_good_has_its_own() {
        assert_eq!(lines(&crossover(0.1, None)), ["spring.threads.virtual.enabled=true"]);
        assert_eq!(
            lines(&crossover(0.1, Some(400))),
            ["server.tomcat.threads.max=400", "spring.threads.virtual.enabled=true"]
        );
    }

    #[test]
    fn a_trade_or_an_unknown_server_has_no_line() {
        assert!(lines(&crossover(1.0, None)).is_empty(), "a trade");
        let mut unknown = crossover(0.1, None);
        unknown.crossover.server = "Netty 4.2".to_owned();
        assert!(lines(&unknown).is_empty());
    }

    #[test]
    fn a_server_without_spring_boot_has_its_own_line() {
        let tomcat = Configured::new("Apache Tomcat/11.0.24", Spring::No);
        assert_eq!(tomcat.pool(400, "").unwrap().line, "maxThreads=\"400\" at the Connector in server.xml");
        assert!(tomcat.virtual_threads("").unwrap().line.contains("useVirtualThreads"));
        assert_eq!(Configured::new("helidon.jar", Spring::No).virtual_threads(""), None);
    }

    #[test]
    fn connections_that_are_the_next_limit_have_a_size_and_few_more_are_not_worth_a_line() {
        let forecast = |kind, enough| Forecast {
            least: 0.9,
            most: 1.1,
            next_limit: "the 10 connections of HikariPool-1".to_owned(),
            enough_threads: None,
            unless: None,
            enough_connections: Some(Connections {
                pool: Pool { kind, name: "HikariPool-1".to_owned(), max: Some(10), samples: Vec::new() },
                enough,
            }),
        };
        let found = connections(Some(forecast(PoolKind::Hikari, 16.0)), Spring::Yes).unwrap();
        assert_eq!(found.line, "spring.datasource.hikari.maximum-pool-size=16");
        assert_eq!(connections(Some(forecast(PoolKind::Hikari, 10.0)), Spring::Yes), None);
        assert_eq!(connections(Some(forecast(PoolKind::JettyClient, 16.0)), Spring::Yes), None);
    }
}
