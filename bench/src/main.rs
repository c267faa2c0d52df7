//! The command `threadcount-bench`.

use clap::{Args, Parser, Subcommand};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use threadcount_bench::server::{self, Pace, stop::StopSignal};
use threadcount_bench::truth::{Delay, Stall};
use threadcount_bench::{bare, span};

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
}

/// A server that answers each request with the same 13 bytes. Prints its port first, and its counts on SIGTERM.
#[derive(Args)]
struct Fixed {
    /// The port to listen on (127.0.0.1); 0: any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Answer after this time instead of at once
    #[arg(long, value_parser = span::parse)]
    delay: Option<Duration>,
}

/// A server that stalls on purpose, or delays its answers by a known distribution.
#[derive(Args)]
struct Truth {
    /// The port to listen on (127.0.0.1); 0: any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// How long nothing is answered
    #[arg(long, value_parser = span::parse, requires = "every")]
    stall: Option<Duration>,
    /// How often it stalls, counted from the first request; the stall lies in the middle of each such period
    #[arg(long, value_parser = span::parse, requires = "stall")]
    every: Option<Duration>,
    /// How long each answer is held back: 5ms, uniform:1ms:9ms, exp:5ms or bimodal:1ms:20ms:10 (percent long)
    #[arg(long)]
    delays: Option<Delay>,
}

/// The floor: an io_uring send/receive loop that parses nothing. Prints its CPU time per request.
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
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Fixed(fixed) => serve(fixed.port, Pace::new(fixed.delay.map_or(Delay::None, Delay::Point), None)),
        Command::Truth(truth) => truth.run(),
        Command::Bare(bare) => bare::run(bare.address, bare.connections, bare.duration).and_then(|r| print_json(&r)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("threadcount-bench: {error}");
            ExitCode::from(2)
        }
    }
}

impl Truth {
    fn run(self) -> io::Result<()> {
        let stall = self.stall.zip(self.every).map(|(lasts, every)| Stall::new(lasts, every)).transpose();
        let stall = stall.map_err(io::Error::other)?;
        serve(self.port, Pace::new(self.delays.unwrap_or_default(), stall))
    }
}

fn serve(port: u16, pace: Pace) -> io::Result<()> {
    let stop = StopSignal::of_process()?;
    let listener = server::listen(port)?;
    println!("{}", listener.local_addr()?.port());
    io::stdout().flush()?;
    print_json(&server::serve(&listener, pace, &stop)?)
}

fn print_json(value: &impl serde::Serialize) -> io::Result<()> {
    println!("{}", serde_json::to_string(value)?);
    Ok(())
}
