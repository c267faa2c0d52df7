//! How a load is asked for: the flags that `load` and `compare` share, and the plan they make.

use super::request_options::RequestOptions;
use super::values::{self, Cores};
use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic, miette};
use rustix::thread::CpuSet;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;
use threadcount_load::plan::{
    Arrivals, DriverChoice, ExpectedStatus, LoadPlan, Pacing, ProtocolChoice, RateShape, Stop,
};

const DEFAULT_CONNECTIONS: NonZeroU32 = NonZeroU32::new(64).unwrap();
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// What is sent, how fast, over what, and for how long.
#[derive(Args, Clone, Debug)]
pub struct LoadOptions {
    #[command(flatten)]
    pace: PaceOptions,
    #[command(flatten)]
    request: RequestOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
}

/// How many requests, and when.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How much")]
struct PaceOptions {
    /// Connections. Without a rate each sends as soon as it has its answer (closed loop); with a rate this many
    /// requests at most are on their way at once [default: 64; with a rate 64 or the rate, up to 1000]
    #[arg(short, long, value_name = "N", value_parser = values::positive_u32)]
    connections: Option<NonZeroU32>,
    /// Send exactly N requests, e.g. 1_000_000 or 10k
    #[arg(short = 'n', long, value_name = "N", value_parser = values::positive)]
    requests: Option<NonZeroU64>,
    /// Stop after this time, e.g. 30s or 5m; with -n whichever comes first [default: 10s, unless -n is there]
    #[arg(short, long, short_alias = 'z', value_name = "TIME", value_parser = values::duration)]
    duration: Option<Duration>,
    /// Requests per second in total, e.g. 5000, 10k/s or 300/m, whatever the answers do (open loop)
    #[arg(short, long, value_name = "RATE", group = "open", value_parser = values::rate)]
    rate: Option<f64>,
    /// A rate that climbs, e.g. 100:5000:30s: from 100/s to 5000/s in 30 s
    #[arg(long, value_name = "FROM:TO:TIME", group = "open", value_parser = values::ramp)]
    ramp: Option<RateShape>,
    /// One rate after the other, e.g. 100:10s,500:10s
    #[arg(long, value_name = "RATE:TIME,..", group = "open", value_parser = values::steps)]
    steps: Option<RateShape>,
    /// Spread the requests as independent users do, not evenly (needs --rate, --ramp or --steps)
    #[arg(long, requires = "open")]
    poisson: bool,
    /// Seed of everything random, so that a load can be repeated
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
}

/// What carries the requests.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How it is carried")]
struct ConnectionOptions {
    /// How long a request may take, from being sent to its last byte
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = values::timeout)]
    timeout: Duration,
    /// How long a connection may take to be made, TLS included
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = values::duration)]
    connect_timeout: Duration,
    /// Status codes that count as an answer; any other is a failure, e.g. 200,300-399 or 2xx [default: 200-399]
    #[arg(long, value_name = "STATUS,..", value_parser = values::expected_status)]
    expect: Option<ExpectedStatus>,
    /// A new connection for each request
    #[arg(long)]
    disable_keepalive: bool,
    /// Do not verify the server's certificate
    #[arg(short = 'k', long)]
    insecure: bool,
    /// HTTP/1.1 only, also where TLS could agree on HTTP/2
    #[arg(long = "http1.1", conflicts_with = "http2")]
    http1: bool,
    /// HTTP/2; without TLS with prior knowledge (h2c)
    #[arg(long = "http2")]
    http2: bool,
    /// Requests at once on one HTTP/2 connection
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "http1", value_parser = values::positive_u32)]
    streams: NonZeroU32,
    /// Generator threads [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = values::positive_u32)]
    threads: Option<NonZeroU32>,
    /// Cores the generator's threads are pinned to, e.g. 0,1 or 0-3
    #[arg(long, value_name = "CORE,..", value_parser = values::cores)]
    cores: Option<Cores>,
    /// The kernel interface for plain HTTP/1.1
    #[arg(long, value_enum, default_value_t = Driver::Auto)]
    driver: Driver,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Driver {
    /// io_uring where the kernel allows it, else epoll
    Auto,
    #[value(name = "io_uring", alias = "uring", alias = "io-uring")]
    IoUring,
    Epoll,
}

impl LoadOptions {
    /// The plan for these URLs (several must share one origin).
    ///
    /// # Errors
    /// A URL, a file or a weight that cannot be used; the message names it and says what to write.
    pub fn plan(&self, urls: &[String]) -> miette::Result<LoadPlan> {
        let requests = self.request.source(urls)?.into();
        let connection = &self.connection;
        let defaults = LoadPlan::closed(requests, self.pace.connections(), self.pace.stop());
        let protocol = match (connection.http1, connection.http2) {
            (true, _) => ProtocolChoice::Http1,
            (_, true) => ProtocolChoice::Http2,
            _ => ProtocolChoice::Auto,
        };
        let cores = connection.cores()?;
        Ok(LoadPlan {
            pacing: self.pace.pacing(),
            threads: connection.threads.or_else(|| NonZeroU32::new(cores.len() as u32)),
            cores,
            driver: connection.driver.into(),
            protocol,
            streams_per_connection: connection.streams,
            keep_alive: !connection.disable_keepalive,
            connect_timeout: connection.connect_timeout,
            request_timeout: connection.timeout,
            expected_status: connection.expect.clone().unwrap_or_default(),
            insecure: connection.insecure,
            seed: self.pace.seed,
            ..defaults
        })
    }
}

impl ConnectionOptions {
    /// The cores asked for, each of which this process may use.
    fn cores(&self) -> miette::Result<Vec<usize>> {
        let cores = self.cores.clone().unwrap_or_default().0;
        let allowed = rustix::thread::sched_getaffinity(None).into_diagnostic()?;
        match cores.iter().find(|&&core| core >= CpuSet::MAX_CPU || !allowed.is_set(core)) {
            None => Ok(cores),
            Some(core) => {
                let ours: Vec<String> = (0..CpuSet::MAX_CPU)
                    .filter(|&core| allowed.is_set(core))
                    .map(|core| core.to_string())
                    .collect();
                Err(miette!("--cores: core {core} cannot be had; this process may use {}", ours.join(",")))
            }
        }
    }
}

impl PaceOptions {
    fn shape(&self) -> Option<RateShape> {
        let constant = self.rate.map(|rate_per_s| RateShape::Constant { rate_per_s });
        constant.or_else(|| self.ramp.clone()).or_else(|| self.steps.clone())
    }

    fn pacing(&self) -> Pacing {
        let arrivals = if self.poisson { Arrivals::Poisson } else { Arrivals::Constant };
        self.shape().map_or(Pacing::Closed, |shape| Pacing::Open { shape, arrivals })
    }

    /// An open load needs room: with the requests of one second at once on their way it can wait for a server that
    /// stalls for a second without being late itself.
    fn connections(&self) -> NonZeroU32 {
        let one_second = |shape: &RateShape| NonZeroU32::new(highest_rate(shape).min(1_000.0).ceil() as u32);
        self.connections.unwrap_or_else(|| {
            let room = self.shape().as_ref().and_then(one_second);
            room.map_or(DEFAULT_CONNECTIONS, |room| room.max(DEFAULT_CONNECTIONS))
        })
    }

    /// A ramp or steps last as long as they were written.
    fn stop(&self) -> Stop {
        let shape_lasts = match self.shape() {
            Some(RateShape::Ramp { over, .. }) => over,
            Some(RateShape::Steps(steps)) => steps.iter().map(|step| step.lasts).sum(),
            Some(RateShape::Constant { .. }) | None => DEFAULT_DURATION,
        };
        match (self.requests, self.duration) {
            (Some(requests), Some(duration)) => Stop::Either(requests, duration),
            (Some(requests), None) => Stop::Requests(requests),
            (None, duration) => Stop::Duration(duration.unwrap_or(shape_lasts)),
        }
    }
}

fn highest_rate(shape: &RateShape) -> f64 {
    match shape {
        RateShape::Constant { rate_per_s } => *rate_per_s,
        RateShape::Ramp { from_per_s, to_per_s, .. } => from_per_s.max(*to_per_s),
        RateShape::Steps(steps) => steps.iter().map(|step| step.rate_per_s).fold(0.0, f64::max),
    }
}

impl From<Driver> for DriverChoice {
    fn from(driver: Driver) -> Self {
        match driver {
            Driver::Auto => Self::Auto,
            Driver::IoUring => Self::IoUring,
            Driver::Epoll => Self::Epoll,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        options: LoadOptions,
    }

    fn parsed(flags: &str) -> Result<LoadPlan, String> {
        let words = std::iter::once("load").chain(flags.split_whitespace());
        let flags = Flags::try_parse_from(words).map_err(|error| error.to_string())?;
        flags.options.plan(&["http://127.0.0.1:8080/".to_owned()]).map_err(|error| error.to_string())
    }

    fn plan(flags: &str) -> LoadPlan {
        parsed(flags).unwrap_or_else(|error| panic!("{flags}: {error}"))
    }

    fn requests(number: u64) -> NonZeroU64 {
        NonZeroU64::new(number).unwrap()
    }

    #[test]
    fn without_flags_it_is_a_closed_loop_of_64_connections_for_ten_seconds() {
        let plan = plan("");
        assert_eq!((plan.connections.get(), plan.pacing), (64, Pacing::Closed));
        assert_eq!(plan.stop, Stop::Duration(Duration::from_secs(10)));
        assert!(plan.keep_alive && !plan.insecure && plan.cores.is_empty());
    }

    #[test]
    fn it_stops_after_requests_or_a_time_or_whichever_comes_first() {
        assert_eq!(plan("-n 10k").stop, Stop::Requests(requests(10_000)));
        assert_eq!(plan("-z 1m").stop, Stop::Duration(Duration::from_secs(60)));
        assert_eq!(plan("-n 5 -d 2s").stop, Stop::Either(requests(5), Duration::from_secs(2)));
    }

    #[test]
    fn a_rate_makes_it_an_open_loop_with_room_for_a_second_of_stalling() {
        let constant = plan("-r 300/s");
        let shape = RateShape::Constant { rate_per_s: 300.0 };
        assert_eq!(constant.pacing, Pacing::Open { shape, arrivals: Arrivals::Constant });
        assert_eq!(constant.connections.get(), 300);
        assert_eq!(plan("-r 0.5 --poisson").connections.get(), 64);
        assert_eq!(plan("-r 1M").connections.get(), 1_000);
        assert_eq!(plan("-r 1M -c 7").connections.get(), 7);
    }

    #[test]
    fn a_ramp_or_steps_last_as_long_as_they_were_written() {
        assert_eq!(plan("--ramp 100:500:30s").stop, Stop::Duration(Duration::from_secs(30)));
        assert_eq!(plan("--steps 100:10s,500:5s").stop, Stop::Duration(Duration::from_secs(15)));
        assert_eq!(plan("--steps 100:10s,500:5s -d 1m").stop, Stop::Duration(Duration::from_secs(60)));
    }

    #[test]
    fn threads_follow_the_cores_they_are_pinned_to() {
        let pinned = plan("--cores 0,0");
        assert_eq!((pinned.threads.map(NonZeroU32::get), pinned.cores), (Some(2), vec![0, 0]));
        assert_eq!(plan("--cores 0,0 --threads 1").threads.map(NonZeroU32::get), Some(1));
        assert_eq!(plan("").threads, None);
    }

    #[test]
    fn the_ways_of_carrying_are_taken_over() {
        let plan = plan(
            "-t 2s --connect-timeout 1s --http2 --streams 8 -k --disable-keepalive --expect 404 --driver epoll",
        );
        assert_eq!((plan.request_timeout.as_secs(), plan.connect_timeout.as_secs()), (2, 1));
        assert_eq!((plan.protocol, plan.streams_per_connection.get()), (ProtocolChoice::Http2, 8));
        assert!(plan.insecure && !plan.keep_alive);
        assert!(plan.expected_status.accepts(404) && !plan.expected_status.accepts(200));
        assert_eq!(plan.driver, DriverChoice::Epoll);
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_the_names_of_the_flags() {
        for (flags, named) in [
            ("--poisson", "--rate"),
            ("-r 5 --ramp 1:2:3s", "--ramp"),
            ("--http1.1 --http2", "--http2"),
            ("--http1.1 --streams 2", "--streams"),
            ("-d 10", "--duration <TIME>': it has no unit: write 10s"),
            ("-c 0", "--connections <N>': it must be at least 1"),
            ("-t 2", "--threads 2"),
            ("--cores 0,1023", "--cores: core 1023 cannot be had; this process may use 0"),
        ] {
            let error = parsed(flags).map(|_| ()).unwrap_err();
            assert!(error.contains(named), "{flags}: {error}");
        }
    }
}
