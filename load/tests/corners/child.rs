//! A test that plays two parts: as it is run, and in a process of its own that it may stop or limit.

use std::process::{Child, Command};
use threadcount_load::plan::DriverChoice;

/// Names the driver in the other process.
const DRIVER: &str = "CORNERS_DRIVER";
const PORT: &str = "CORNERS_PORT";

/// What the process is to do, if it is the other one.
pub fn part() -> Option<(DriverChoice, u16)> {
    let driver = match std::env::var(DRIVER).ok()?.as_str() {
        "epoll" => DriverChoice::Epoll,
        _ => DriverChoice::IoUring,
    };
    Some((driver, std::env::var(PORT).unwrap().parse().unwrap()))
}

/// Starts a test of this binary as the other process.
pub fn start(test: &str, driver: DriverChoice, port: u16) -> Child {
    let driver = if driver == DriverChoice::Epoll { "epoll" } else { "io_uring" };
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(DRIVER, driver)
        .env(PORT, port.to_string())
        .spawn()
        .unwrap()
}
