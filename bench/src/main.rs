//! The command `threadcount-bench`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use threadcount_bench::compare::{self, Part, Wanted, result::Comparison, sizes::Cores};
use threadcount_bench::server::{self, Pace, Service, Stall, answer::Answers, stop::StopSignal};
use threadcount_bench::tool::Toolbox;
use threadcount_bench::{bare, soak, span};
use threadcount_load::command_line;

/// Servers with a known truth, and threadcount measured against other load generators.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Fixed(Fixed),
    Truth(Truth),
    Bare(Bare),
    Compare(Compare),
    Soak(Soak),
}

/// A server with the same response to each request. Prints its port first, and its counts on SIGTERM.
#[derive(Args)]
struct Fixed {
    /// Answer after this time instead of at once
    #[arg(long, value_parser = span::parse)]
    delay: Option<Duration>,
    /// How long the body of each response is, in bytes; other lengths than 13 only at once
    #[arg(long, value_name = "BYTES", default_value_t = 13)]
    body: usize,
    /// The rate of the load: also print how late its requests arrived
    #[arg(long, value_name = "RATE")]
    asked_rate: Option<u32>,
    #[command(flatten)]
    endpoint: Endpoint,
}

/// Where a server listens.
#[derive(Args)]
struct Endpoint {
    /// The address to listen on; other than loopback only where nobody else can reach it
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST)]
    address: Ipv4Addr,
    /// The port to listen on; 0: any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// A server that stalls on purpose.
#[derive(Args)]
struct Truth {
    /// Length of the stall
    #[arg(long, value_parser = span::parse)]
    stall: Duration,
    /// How often it stalls, counted from the first request; the stall lies in the middle of each such period
    #[arg(long, value_parser = span::parse)]
    every: Duration,
    #[command(flatten)]
    endpoint: Endpoint,
}

/// The floor: a send/receive loop that parses nothing. Prints its CPU time per request.
///
/// Closed, over io_uring; with a rate, open: it sleeps until requests are due.
#[derive(Args)]
struct Bare {
    /// The address of a `fixed` server, such as 127.0.0.1:8080
    address: SocketAddr,
    /// Connections
    #[arg(short, default_value_t = 64)]
    connections: u32,
    /// How long
    #[arg(short, value_parser = span::parse, default_value = "5s")]
    duration: Duration,
    /// Requests per second, evenly spaced; left out: each connection sends as soon as it has its response
    #[arg(short)]
    rate: Option<u32>,
    /// Send what falls due within so much time together, when the last of it is due
    #[arg(long, value_parser = span::parse, default_value = "0s", requires = "rate")]
    lateness: Duration,
    /// How long the body of each response is, in bytes, as given to the server
    #[arg(long, value_name = "BYTES", default_value_t = 13, conflicts_with = "rate")]
    body: usize,
    /// HTTP/2 in the clear, with so many streams on each connection
    #[arg(long, value_name = "N", conflicts_with_all = ["rate", "body"])]
    streams: Option<u32>,
}

/// Run threadcount against the other load generators that are installed, and write the tables.
#[derive(Args)]
struct Compare {
    /// Small sizes: to see that everything works, not to quote
    #[arg(long)]
    quick: bool,
    /// Measure only these rows, and keep the others of benchmarks.json as they are [default: all, and nothing is kept]
    #[arg(long, value_enum, value_delimiter = ',')]
    rows: Vec<Part>,
    /// Only tools whose name contains one of these, e.g. threadcount,bare,wrk
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The threadcount program to measure [default: beside this one]
    #[arg(long, value_name = "FILE")]
    threadcount: Option<PathBuf>,
    #[command(flatten)]
    pinned: Pinned,
    /// Where benchmarks.json and benchmarks.md go
    #[arg(long, value_name = "FOLDER", default_value = "docs/measurements")]
    out: PathBuf,
    /// Measure nothing: write benchmarks.md again from benchmarks.json
    #[arg(long)]
    rewrite: bool,
}

/// Send at a constant rate for a long time and watch the generator's memory each second.
///
/// Exit code 1: it ended with more than it had after its first minute, by more than the margin.
#[derive(Args)]
struct Soak {
    /// Requests per second
    #[arg(short, default_value_t = 10_000)]
    rate: u32,
    /// How long
    #[arg(short, value_parser = span::parse, default_value = "10m")]
    duration: Duration,
    /// How much more memory than after the first minute is allowed at the end, in KiB
    #[arg(long, default_value_t = 1_024)]
    margin_kib: u64,
    /// The threadcount program to watch [default: beside this one]
    #[arg(long, value_name = "FILE")]
    threadcount: Option<PathBuf>,
    #[command(flatten)]
    pinned: Pinned,
}

#[derive(Args)]
struct Pinned {
    /// The core the server runs on
    #[arg(long, default_value_t = 0)]
    server_core: usize,
    /// The core the client runs on
    #[arg(long, default_value_t = 1)]
    client_core: usize,
}

impl From<&Pinned> for Cores {
    fn from(pinned: &Pinned) -> Self {
        Self { server: pinned.server_core, client: pinned.client_core }
    }
}

fn main() -> ExitCode {
    raise_file_limit();
    let done = match Cli::parse().command {
        Command::Fixed(fixed) => fixed.run(),
        Command::Truth(truth) => truth.run(),
        Command::Bare(bare) => bare.run(),
        Command::Compare(compare) => compare.run(),
        Command::Soak(soak) => match soak.run() {
            Ok(None) => Ok(()),
            Ok(Some(trouble)) => {
                eprintln!("threadcount-bench: {trouble}");
                return ExitCode::from(1);
            }
            Err(error) => Err(error),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("threadcount-bench: {error}");
            ExitCode::from(2)
        }
    }
}

impl Fixed {
    fn run(self) -> io::Result<()> {
        let service = Service {
            pace: Pace::delayed(self.delay.unwrap_or_default()),
            answers: Answers::with_body(self.body),
            asked_rate: self.asked_rate,
        };
        serve(&self.endpoint, &service)
    }
}

impl Truth {
    fn run(self) -> io::Result<()> {
        let stall = Stall::new(self.stall, self.every).map_err(io::Error::other)?;
        serve(&self.endpoint, &Service { pace: Pace::stalling(stall), ..Service::default() })
    }
}

impl Bare {
    fn run(&self) -> io::Result<()> {
        let (address, connections, lasts) = (self.address, self.connections, self.duration);
        print_json(&match (self.rate, self.streams) {
            (_, Some(streams)) => bare::streams::run(address, connections, streams, lasts)?,
            (Some(rate), None) => bare::sleeping::run(address, connections, rate, lasts, self.lateness)?,
            (None, None) => bare::run(address, connections, lasts, self.body)?,
        })
    }
}

impl Compare {
    fn run(self) -> io::Result<()> {
        let (json, page) = (self.out.join("benchmarks.json"), self.out.join("benchmarks.md"));
        let comparison: Comparison = if self.rewrite {
            serde_json::from_str(&fs::read_to_string(&json)?)?
        } else {
            let measured = self.measure()?;
            fs::write(&json, serde_json::to_string_pretty(&measured)? + "\n")?;
            measured
        };
        fs::write(&page, compare::markdown::page(&comparison))?;
        for goal in compare::goals::goals(&comparison) {
            let holds = goal.holds.map_or("not measured", |holds| if holds { "reached" } else { "MISSED" });
            let floor = goal.floor.map_or_else(String::new, |floor| format!("; the floor here: {floor}"));
            println!("{holds}: {}: {} ({}{floor})", goal.what, goal.measured.unwrap_or_default(), goal.limit);
        }
        println!("{}", page.display());
        Ok(())
    }

    fn measure(&self) -> io::Result<Comparison> {
        let toolbox = Toolbox::new(self.threadcount.clone())?;
        compare::check_ours(&toolbox)?;
        let cores = Cores::from(&self.pinned);
        cores.check()?;
        fs::create_dir_all(&self.out)?;
        let command = command_line::words().join(" ");
        let earlier = if self.rows.is_empty() { None } else { self.read_earlier()? };
        let parts = if self.rows.is_empty() { Part::value_variants().to_vec() } else { self.rows.clone() };
        let wanted = Wanted { quick: self.quick, parts, only: self.only.clone(), cores, command };
        compare::measure(&toolbox, &wanted, earlier)
    }

    /// What was measured before; `None`: there is none yet.
    fn read_earlier(&self) -> io::Result<Option<Comparison>> {
        match fs::read_to_string(self.out.join("benchmarks.json")) {
            Ok(json) => Ok(Some(serde_json::from_str(&json)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Soak {
    /// What is wrong with the memory, if anything.
    fn run(self) -> io::Result<Option<String>> {
        let toolbox = Toolbox::new(self.threadcount)?;
        let cores = Cores::from(&self.pinned);
        cores.check()?;
        let soak = soak::run(&toolbox, self.rate, self.duration, cores)?;
        eprintln!("{}", soak.sentence());
        print_json(&soak)?;
        Ok(soak.trouble(self.margin_kib))
    }
}

/// Thousands of connections need as many descriptors; the programs we start inherit the limit.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If this is refused the limit stays, and connections fail with the reason.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

fn serve(endpoint: &Endpoint, service: &Service) -> io::Result<()> {
    let stop = StopSignal::of_process()?;
    let address = SocketAddr::from((endpoint.address, endpoint.port));
    let listener = server::listen(address).map_err(|error| {
        io::Error::other(format!("cannot listen on {address}: {error}; --port 0 takes any free port"))
    })?;
    println!("{}", listener.local_addr()?.port());
    io::stdout().flush()?;
    print_json(&server::serve(&listener, service, &stop)?)
}

fn print_json(value: &impl serde::Serialize) -> io::Result<()> {
    println!("{}", serde_json::to_string(value)?);
    Ok(())
}
