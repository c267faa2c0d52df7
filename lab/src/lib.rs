//! Threadcount: what changes when a JVM web server runs its requests on another thread model, with evidence.
//!
//! Data flows one way: [`experiment`] → plan → run (launch, observe) → [`record`] → compare →
//! explain → [`result`] → report. Nothing upstream imports anything downstream.

pub mod capacity;
pub mod cli;
pub mod compare;
pub mod experiment;
pub mod explain;
pub mod foreign;
pub mod history;
pub mod home;
pub mod launch;
pub mod observe;
pub mod record;
pub mod report;
pub mod result;
pub mod result_folder;
pub mod run;
pub mod session;
pub mod watch;
pub mod written;
