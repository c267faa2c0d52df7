//! The flags of a load that `load` and `compare` share, and the load that they make.

use super::heading;
use super::remote_target::RemoteOptions;
use super::request_options::RequestOptions;
use super::transport_options::{ResponseOptions, TransportOptions};
use clap::Args;
use miette::miette;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;
use threadcount_load::plan::{Arrivals, ExpectedStatus, LoadPlan, ProtocolChoice};
use threadcount_machine::own_cores;
use threadcount_model::experiment::sending::{CONNECT_TIMEOUT, TIMEOUT};
use threadcount_model::experiment::{LoadKind, LoadSpec, Losses, Sending, Shape, Workload};
use threadcount_model::parse;
use threadcount_model::parse::Cores;

const DEFAULT_CONNECTIONS: u32 = 64;
const DEFAULT_DURATION_S: f64 = 10.0;

/// The requests of a load, their pace, their connections and their duration.
#[derive(Args, Clone, Debug)]
pub struct LoadOptions {
    #[command(flatten)]
    pace: PaceOptions,
    #[command(flatten)]
    request: RequestOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(flatten)]
    transport: TransportOptions,
    #[command(flatten)]
    remote: RemoteOptions,
    #[command(flatten)]
    response: ResponseOptions,
}

/// A load and the origin that it goes to (`http://host:port`).
#[derive(Clone, Debug)]
pub struct AskedLoad {
    pub origin: String,
    pub load: LoadSpec,
}

/// The number and pace of requests.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = heading::PACE)]
struct PaceOptions {
    /// Number of connections. Without a rate, each sends its next request as soon as the last one is answered (closed loop). With a
    /// rate it is the most requests in flight [default: 64; with a rate, two seconds' worth, 64 to 4000]
    #[arg(short, long, value_name = "N", value_parser = parse::positive_u32, allow_negative_numbers = true)]
    connections: Option<NonZeroU32>,
    /// Send exactly N requests, e.g. 1_000_000 or 10k
    #[arg(short = 'n', long, value_name = "N", value_parser = parse::positive, allow_negative_numbers = true)]
    requests: Option<NonZeroU64>,
    /// Stop after this time, e.g. 30s or 5m; with -n, whichever comes first [default: 10s, without -n]
    #[arg(short, long, short_alias = 'z', value_name = "TIME", value_parser = parse::load_duration)]
    duration: Option<Duration>,
    /// Requests per second in total, e.g. 5000, 10k/s or 300/min, however slowly the server responds (open loop)
    #[arg(short, long, short_alias = 'R', value_name = "RATE", group = "schedule", value_parser = parse::rate, allow_negative_numbers = true)]
    rate: Option<f64>,
    /// A rising rate, e.g. 0:5000:30s: from 0 to 5000/s in 30 s; one of the two may be 0
    #[arg(long, value_name = "FROM:TO:TIME", group = "schedule", value_parser = parse::ramp)]
    ramp: Option<Shape>,
    /// A sequence of rates, e.g. 100:10s,500:10s
    #[arg(long, value_name = "RATE:TIME,..", group = "schedule", value_parser = parse::steps)]
    steps: Option<Shape>,
    /// Random (Poisson) arrivals, like those of independent users, instead of evenly spaced ones (needs --rate, --ramp or --steps)
    #[arg(long, requires = "schedule")]
    poisson: bool,
    /// Seed of the random numbers: the same seed repeats the same load
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse::count)]
    seed: u64,
}

/// The flags for connections and their threads.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Connection")]
struct ConnectionOptions {
    /// Timeout of a request, from sent to completed [default: 30s]
    #[arg(short, long, value_name = "TIME", value_parser = parse::timeout)]
    timeout: Option<Duration>,
    /// Timeout of a connection attempt, including TLS [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    connect_timeout: Option<Duration>,
    /// Expected status codes, e.g. 200,300-399 or 2xx; any other is a failure [default: 200-399]
    #[arg(long, value_name = "STATUS,..", value_parser = parse::expected_status)]
    expect: Option<ExpectedStatus>,
    /// Open a new connection for each request
    #[arg(long, visible_alias = "no-keepalive")]
    disable_keepalive: bool,
    /// Do not verify the server's certificate
    #[arg(short = 'k', long)]
    insecure: bool,
    /// Use HTTP/1.1 only, even if TLS could negotiate HTTP/2
    #[arg(long = "http1.1", conflicts_with = "http2")]
    http1: bool,
    /// Use HTTP/2 only; without TLS, with prior knowledge (h2c)
    #[arg(long = "http2")]
    http2: bool,
    /// Concurrent requests per HTTP/2 connection
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "http1", value_parser = parse::positive_u32)]
    streams: NonZeroU32,
    /// Generator threads [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = parse::positive_u32, help_heading = heading::GENERATOR)]
    threads: Option<NonZeroU32>,
    /// Cores the generator's threads are pinned to, e.g. 0,1 or 0-3
    #[arg(long, value_name = "CORE,..", value_parser = parse::cores, help_heading = heading::GENERATOR)]
    cores: Option<Cores>,
    /// A choice that versions before 0.3 had
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "", value_parser = refused_driver)]
    driver: Option<String>,
}

fn refused_driver(_: &str) -> Result<String, &'static str> {
    Err("epoll is the only driver since 0.3; leave `--driver` out")
}

impl LoadOptions {
    /// The load on these URLs, which must share one origin. With `--targets` the requests come from the file, and a URL only sets the
    /// origin.
    ///
    /// # Errors
    /// A URL, a file, a weight or a core that cannot be used. The message names it and what to write.
    pub fn load(&self, urls: &[String]) -> miette::Result<AskedLoad> {
        let asked = self.request.asked(urls)?;
        let workload = self.pace.workload();
        let shape = self.pace.shape();
        let (requests, duration_s) = self.pace.size();
        let load = LoadSpec {
            requests,
            duration_s,
            more_requests: asked.more,
            sending: self.sending()?,
            keep_alive: !self.connection.disable_keepalive,
            ..LoadSpec::new(&workload.default_name(shape.as_ref()), workload, asked.first)
        };
        Ok(AskedLoad { origin: asked.origin, load: LoadSpec { shape, ..load } })
    }

    /// Whether a flag sets the length of the load.
    pub const fn is_sized(&self) -> bool {
        let pace = &self.pace;
        pace.requests.is_some() || pace.duration.is_some() || pace.ramp.is_some() || pace.steps.is_some()
    }

    /// Refuses a plan for a public address, unless the user has said whose machine it is.
    ///
    /// # Errors
    /// A public address without `--allow-remote`.
    pub fn check_target(&self, plan: &LoadPlan) -> miette::Result<()> {
        self.remote.check(plan)
    }

    /// Whether the requests come from a file (`--targets`).
    pub const fn has_target_file(&self) -> bool {
        self.request.has_target_file()
    }

    fn sending(&self) -> miette::Result<Sending> {
        let connection = &self.connection;
        let http = match (connection.http1, connection.http2) {
            (true, _) => ProtocolChoice::Http1,
            (_, true) => ProtocolChoice::Http2,
            _ => ProtocolChoice::Auto,
        };
        let cores = connection.cores.clone().unwrap_or_default().0;
        if let Some(why) = own_cores::cannot_be_had(&cores) {
            return Err(miette!("--cores: {why}"));
        }
        let sending = Sending {
            arrivals: if self.pace.poisson { Arrivals::Poisson } else { Arrivals::Constant },
            seed: self.pace.seed,
            timeout_s: connection.timeout.unwrap_or(TIMEOUT).as_secs_f64(),
            connect_timeout_s: connection.connect_timeout.unwrap_or(CONNECT_TIMEOUT).as_secs_f64(),
            expect: connection.expect.clone().unwrap_or_default(),
            http,
            streams: connection.streams,
            insecure: connection.insecure,
            threads: connection.threads,
            cores,
            ..Sending::default()
        };
        Ok(self.response.apply(self.transport.apply(sending)))
    }
}

impl PaceOptions {
    fn shape(&self) -> Option<Shape> {
        self.ramp.clone().or_else(|| self.steps.clone())
    }

    fn workload(&self) -> Workload {
        let rates = self.rate.map(|rate_per_s| (rate_per_s, rate_per_s));
        let rates = rates.or_else(|| self.shape().map(|shape| (shape.mean_per_s(), shape.highest_per_s())));
        let connections = self.connections.map(NonZeroU32::get);
        match rates {
            None => LoadKind::Closed { clients: connections.unwrap_or(DEFAULT_CONNECTIONS) }.into(),
            Some((rate_per_s, highest)) => {
                let clients = connections.unwrap_or_else(|| LoadKind::connections_for(highest));
                LoadKind::Open { rate_per_s, clients, losses: Losses::Unexpected }.into()
            }
        }
    }

    /// The number of requests, the seconds, or both. A ramp or steps last as long as they are written.
    fn size(&self) -> (Option<u64>, Option<f64>) {
        let requests = self.requests.map(NonZeroU64::get);
        let written_s = self.shape().map_or(DEFAULT_DURATION_S, |shape| shape.lasts_s());
        let by_default = requests.is_none().then_some(written_s);
        (requests, self.duration.map(|duration| duration.as_secs_f64()).or(by_default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use threadcount_load::plan::{Pacing, RateShape, Stop};
    use threadcount_servers::workload::load_plan::load_plan;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        options: LoadOptions,
    }

    fn parsed(flags: &str) -> Result<LoadPlan, String> {
        let words = std::iter::once("load").chain(flags.split_whitespace());
        let flags = Flags::try_parse_from(words).map_err(|error| error.to_string())?;
        let asked = flags.options.load(&["http://127.0.0.1:8080/".to_owned()]);
        let AskedLoad { origin, load } = asked.map_err(|error| error.to_string())?;
        load_plan(&load, &origin).map_err(|error| error.to_string())
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
    fn a_rate_makes_it_an_open_loop_with_connections_for_two_seconds_of_it() {
        let constant = plan("-r 300/s");
        let shape = RateShape::Constant { rate_per_s: 300.0 };
        assert_eq!(constant.pacing, Pacing::Open { shape, arrivals: Arrivals::Constant });
        assert_eq!(constant.connections.get(), 600);
        assert_eq!(plan("-r 0.5 --poisson").connections.get(), 64);
        assert_eq!(plan("-r 1M").connections.get(), 4_000);
        assert_eq!(plan("-R 1M -c 7").connections.get(), 7);
    }

    #[test]
    fn a_ramp_or_steps_last_as_long_as_they_were_written() {
        assert_eq!(plan("--ramp 100:500:30s").stop, Stop::Duration(Duration::from_secs(30)));
        assert_eq!(plan("--ramp 100:500:30s").connections.get(), 1_000);
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
        let plan = plan("-t 2s --connect-timeout 1s --http2 --streams 8 -k --disable-keepalive --expect 404");
        assert_eq!((plan.request_timeout.as_secs(), plan.connect_timeout.as_secs()), (2, 1));
        assert_eq!((plan.protocol, plan.streams_per_connection.get()), (ProtocolChoice::Http2, 8));
        assert!(plan.insecure && !plan.keep_alive);
        assert!(plan.expected_status.accepts(404) && !plan.expected_status.accepts(200));
    }

    #[test]
    fn a_driver_is_refused_with_the_reason() {
        for flags in ["--driver epoll", "--driver=io_uring", "--driver"] {
            let error = parsed(flags).unwrap_err();
            assert!(error.contains("epoll is the only driver since 0.3; leave `--driver` out"), "{error}");
        }
    }

    #[test]
    fn addresses_tls_and_responses_are_taken_over() {
        let with_tls = "--connect-to a:80:b:81 --resolve b:81:127.0.0.9 --expect-body regex:^ok --cookies --grace 2s --lead-in 3s -d 1s \
            --capture id=json:/id --log x.csv";
        let full = plan(with_tls);
        let rules: Vec<String> = full.resolve.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["a:80:b:81", "b:81:127.0.0.9"]);
        assert_eq!(full.expected_body.map(|check| check.to_string()).as_deref(), Some("regex:^ok"));
        assert_eq!(full.captures.iter().map(ToString::to_string).collect::<Vec<_>>(), ["id=json:/id"]);
        assert!(full.keep_cookies && full.log.is_some_and(|log| log.ends_with("x.csv")));
        assert_eq!((full.grace, full.lateness), (Duration::from_secs(2), Duration::ZERO));
        assert_eq!(full.lead_in, Duration::from_secs(3));
        assert_eq!(plan("-r 5/s --lateness 1ms").lateness, Duration::from_millis(1));
        let socket = plan("--unix-socket /run/x.sock").unix_socket;
        assert_eq!(socket.as_deref(), Some(std::path::Path::new("/run/x.sock")));
    }

    #[test]
    fn tls_flags_are_taken_over_and_the_key_may_be_beside_its_certificate() {
        let url = ["https://127.0.0.1/".to_owned()];
        let plan = |flags: &str| {
            let words = std::iter::once("load").chain(flags.split_whitespace());
            let AskedLoad { origin, load } = Flags::parse_from(words).options.load(&url).unwrap();
            load_plan(&load, &origin).unwrap()
        };
        let full =
            plan("--sni a.test --cacert a.pem --cacert b.pem --cert c.pem --key k.pem --no-tls-resumption");
        assert_eq!((full.sni.as_deref(), full.tls.ca_files.len()), (Some("a.test"), 2));
        assert!(!full.tls.resumption && full.tls.identity.is_some_and(|own| own.key.ends_with("k.pem")));
        let short = plan("--cert c.pem");
        assert!(short.tls.resumption && short.tls.identity.is_some_and(|own| own.key == own.certificate));
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_the_names_of_the_flags() {
        for (flags, named) in [
            ("--poisson", "--rate"),
            ("-r 5 --ramp 1:2:3s", "--ramp"),
            ("--http1.1 --http2", "--http2"),
            ("--lateness 1ms", "--rate"),
            ("--lead-in 1s -n 5", "--lead-in"),
            ("--lead-in 1s --ramp 1:2:3s", "--lead-in"),
            ("--key k.pem", "--cert"),
            ("--unix-socket x --resolve a:80:1.2.3.4", "--resolve"),
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
