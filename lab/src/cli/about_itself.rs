//! `threadcount self`: this program's version, what the kernel allows it, and the files that it has put on this machine.

use super::{FAILED, stdout};
use crate::VERSION;
use clap::Args;
use std::fmt::Write;
use std::process::ExitCode;
use threadcount_load::kernel_stamps_receives;
use threadcount_machine::bundle::Embedded;
use threadcount_machine::stored;
use threadcount_machine::stored::{Origin, StoredFolder};
use threadcount_report::layout;
use threadcount_servers::jetty::distribution::JETTY;
use threadcount_servers::tomcat::distribution::TOMCAT;

const BYTES_PER_MB: f64 = 1e6;

/// Show the version, what the kernel offers the load generator, and what was unpacked and downloaded
///
/// Exit code: 0 done, 1 something could not be removed.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SelfCommand {
    /// Remove the unpacked parts of every version, and the servers that were downloaded
    #[arg(long)]
    remove: bool,
}

const EXAMPLES: &str = "Examples:
  For a bug report:
    threadcount self
  Before the program itself is removed, while no experiment is running:
    threadcount self --remove";

impl SelfCommand {
    /// Prints it, or removes what is stored.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let stored = stored::find(&[&TOMCAT, &JETTY].map(|it| (it.name, it.folder)));
        if self.remove {
            return Ok(remove(&stored));
        }
        let text = [program(), kernel(), parts(), folders(&stored)].concat();
        stdout::show(&text, false)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn program() -> String {
    let libc = match (cfg!(target_feature = "crt-static"), cfg!(target_env = "musl")) {
        (true, true) => "static, musl",
        (true, false) => "static, glibc",
        (false, true) => "musl",
        (false, false) => "glibc",
    };
    // Unknown where /proc is missing.
    let path =
        std::env::current_exe().map_or_else(|_| "unknown path".to_owned(), |it| it.display().to_string());
    format!("threadcount {VERSION}\nprogram   {path} ({}, {libc})\n", std::env::consts::ARCH)
}

fn kernel() -> String {
    let stamps = if kernel_stamps_receives() { "yes" } else { "no" };
    format!("stamps    {stamps} (the kernel's receive time of each response)\n")
}

/// Lists the parts that are packed into the program.
fn parts() -> String {
    let Some(embedded) = Embedded::of_this_program() else {
        return "parts     none in this program; it uses those of a checkout, or of THREADCOUNT_HOME\n"
            .to_owned();
    };
    let manifest = match embedded.manifest() {
        Ok(manifest) => manifest,
        Err(error) => return format!("parts     damaged ({error}); install the program again\n"),
    };
    let mut text = format!(
        "parts     {} files in this program, {} unpacked; of version {}, commit {}\n",
        manifest.files.len(),
        megabytes(manifest.bytes()),
        manifest.version,
        manifest.commit.as_deref().unwrap_or("unknown")
    );
    if !manifest.left_out.is_empty() {
        let _ =
            writeln!(text, "          not in it, because of their size: {}", manifest.left_out.join(", "));
    }
    text
}

fn folders(stored: &[StoredFolder]) -> String {
    if stored.is_empty() {
        return "stored    nothing\n".to_owned();
    }
    let labels = ["stored"].into_iter().chain(std::iter::repeat(""));
    let row = |(folder, label): (&StoredFolder, &str)| {
        let origin = match folder.origin {
            Origin::OwnParts => "parts of this program",
            Origin::OtherParts => "parts of another version or build",
            Origin::Download => "downloaded",
            Origin::Launcher => "the program, unpacked by its jar",
        };
        let label = layout::padded(label, "program ".len());
        vec![label, megabytes(folder.bytes), format!("{} ({origin})", folder.path.display())]
    };
    let rows: Vec<Vec<String>> = stored.iter().zip(labels).map(row).collect();
    layout::table(&rows, "<><").iter().map(|line| format!("{line}\n")).collect()
}

fn remove(stored: &[StoredFolder]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for folder in stored {
        match stored::remove(folder) {
            Ok(()) => anstream::println!("removed {} ({})", folder.path.display(), megabytes(folder.bytes)),
            Err(error) => {
                code = ExitCode::from(FAILED);
                note!("cannot remove {}: {error}", folder.path.display());
            }
        }
    }
    if stored.is_empty() {
        anstream::println!("nothing is stored");
    }
    code
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / BYTES_PER_MB)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn what_is_stored_is_listed_with_size_and_origin() {
        let folder = |path: &str, origin, bytes| StoredFolder { path: PathBuf::from(path), origin, bytes };
        let text = folders(&[
            folder("/c/parts/0.1.0-ab", Origin::OwnParts, 12_340_000),
            folder("/c/tomcat/x", Origin::Download, 900_000),
        ]);
        assert_eq!(
            text,
            "stored    12.3 MB  /c/parts/0.1.0-ab (parts of this program)\n\
             \u{20}          0.9 MB  /c/tomcat/x (downloaded)\n"
        );
        assert_eq!(folders(&[]), "stored    nothing\n");
    }
}
