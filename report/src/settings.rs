//! The lines to set: configuration that a user can paste for the measured framework, with the reason for each line.

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

/// A larger connection pool is proposed only if it has this many times as many connections. With a full CPU there is no use for more.
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

/// The settings, at most three lines; empty if nothing should change.
#[must_use]
pub fn settings(document: &ResultDocument) -> Vec<Setting> {
    match &document.crossover {
        Some(crossover) => crossover_settings(crossover, &document.experiment.variants),
        None => of_runs(document),
    }
}

/// The settings after a crossover. `variants` are those planned for the server; a server that was already running has none.
#[must_use]
pub fn crossover_settings(measured: &CrossoverDocument, variants: &[Variant]) -> Vec<Setting> {
    let crossover = &measured.crossover;
    let spring = match variants {
        [] => Spring::Maybe,
        planned if planned.iter().any(|it| it.kind_setting().is_some()) => Spring::Yes,
        _ => Spring::No,
    };
    let Some((treatment, decision)) = decided(measured) else { return Vec::new() };
    let os_threads = |treatment: Treatment| {
        let alone = crossover.alone.iter().find(|it| it.variant == treatment.to_string())?;
        Metric::OsThreads.of(alone)
    };
    let decided = Decided {
        decision,
        name: name(crossover, treatment),
        is_virtual: treatment == Treatment::Virtual { limit: None },
        pool_threads: match treatment {
            Treatment::Platform { threads } => crossover.own_threads.map(|_| threads),
            _ => None,
        },
        os_threads: os_threads(treatment),
    };
    let pool_os_threads = |threads| os_threads(Treatment::Platform { threads });
    let forecast = || forecast::of_treatment(measured, treatment);
    decided.settings(Configured::new(&crossover.server, spring), pool_os_threads, forecast)
}

fn of_runs(document: &ResultDocument) -> Vec<Setting> {
    let Some((variant, decision)) = asked(document) else { return Vec::new() };
    let experiment = &document.experiment;
    let load = experiment.loads.iter().find(|load| !document.counted_runs(&variant, &load.name).is_empty());
    let Some((load, variant)) = load.zip(experiment.variant(&variant)) else { return Vec::new() };
    let spring = if variant.kind_setting().is_some() { Spring::Yes } else { Spring::No };
    let runs = document.counted_runs(&variant.name, &load.name);
    // For a jar, the product is only the name of the file.
    let product = runs.first().filter(|_| spring == Spring::No).and_then(|it| it.server.product.clone());
    let variables = experiment.variants.iter().flat_map(|it| it.env.keys());
    let words = variables.fold(product.unwrap_or_default(), |words, name| words + " " + name);
    let os_threads = |name: &str| document.mean(name, &load.name, Metric::OsThreads);
    let is_on_pools = experiment.baseline(load).is_some_and(|it| !it.is_on_virtual_threads());
    let decided = Decided {
        decision,
        name: variant.name.clone(),
        is_virtual: experiment.virtual_variant(load).is_some_and(|it| it.name == variant.name),
        pool_threads: variant.written_pool(load).filter(|_| is_on_pools),
        os_threads: os_threads(&variant.name),
    };
    let pool_os_threads = |threads| {
        let sized = experiment.variants.iter().find(|it| it.written_pool(load) == Some(threads));
        sized.and_then(|it| os_threads(&it.name))
    };
    let forecast = || forecast::of_runs(document, &variant.name, load);
    decided.settings(Configured::new(&words, spring), pool_os_threads, forecast)
}

/// The variant or the kind of thread that the question is about, and the decision on it.
struct Decided {
    decision: Decision,
    name: String,
    is_virtual: bool,
    /// The size of its pool of platform threads, if it has one and is compared with another pool.
    pool_threads: Option<u32>,
    os_threads: Option<f64>,
}

impl Decided {
    fn settings(
        &self,
        configured: Configured,
        pool_os_threads: impl Fn(u32) -> Option<f64>,
        forecast: impl FnOnce() -> Option<Forecast>,
    ) -> Vec<Setting> {
        let lines = match self.decision {
            Decision::OnlyTheNumber(threads) => vec![
                configured
                    .pool(threads, &format!("as good as {}{}", self.name, with(pool_os_threads(threads)))),
                configured.virtual_threads(&format!("instead of the line above{}", with(self.os_threads))),
            ],
            Decision::Yes if self.is_virtual => vec![configured.virtual_threads(BETTER)],
            Decision::Yes => vec![self.pool_threads.and_then(|threads| configured.pool(threads, BETTER))],
            _ => Vec::new(),
        };
        let is_chosen = matches!(self.decision, Decision::Yes | Decision::Trade);
        let forecast = is_chosen.then(forecast).flatten();
        let connections = connections(forecast, configured.spring);
        lines.into_iter().flatten().chain(connections).collect()
    }
}

/// `, with 424 OS threads`.
fn with(os_threads: Option<f64>) -> String {
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
        made.periods.iter_mut().filter(|period| period.treatment == virtual_threads).for_each(|period| {
            period.response_times.weighted_ms.iter_mut().for_each(|(ms, _)| *ms *= times);
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
            condition: None,
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
