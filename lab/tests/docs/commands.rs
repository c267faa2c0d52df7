//! Checks the commands in the documentation: `threadcount` by its own parser, `./dev` by its list, `cargo` by the files that it names.

use crate::markdown::{Page, ROOT};
use clap::{Command, CommandFactory, Parser};
use std::fs;
use std::path::{Path, PathBuf};
use threadcount::cli::Cli;

/// Words of a line that begin another command, or redirect the output.
const OPERATORS: [&str; 7] = ["|", "||", "&&", ";", ">", ">>", "<"];
/// Words that stand for a value in the documentation, and a real value.
const STAND_INS: [(&str, &str); 2] = [("PID", "4711"), ("URL", "http://127.0.0.1/")];

/// The mistake in a command line, or `None` if there is none or the line calls none of our programs.
pub fn complaint(line: &str) -> Option<String> {
    let words = shlex::split(line).unwrap_or_default();
    words.split(|word| OPERATORS.contains(&word.as_str())).find_map(complaint_about)
}

fn complaint_about(command: &[String]) -> Option<String> {
    // In a container the program is called by its path.
    let in_container = command.iter().position(|word| word.ends_with("/bin/threadcount"));
    let start = in_container.unwrap_or_else(|| command.iter().take_while(|word| is_assignment(word)).count());
    let words: Vec<&str> = command[start..].iter().map(String::as_str).collect();
    match *words.first()? {
        "./dev" => not_in_dev(&words[1..]),
        "cargo" => not_in_the_workspace(&words),
        name if name == "threadcount" || name.ends_with("/bin/threadcount") => not_understood(&words),
        _ => None,
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|it| it.is_ascii_uppercase() || it == '_')
    })
}

/// The parser's own message. Nothing is run.
fn not_understood(words: &[&str]) -> Option<String> {
    let with_values = words.iter().map(|word| {
        let stand_in = STAND_INS.iter().find(|(written, _)| written == word);
        stand_in.map_or(*word, |(_, value)| *value)
    });
    let error = Cli::try_parse_from(with_values).err()?;
    (error.exit_code() != 0).then(|| error.to_string())
}

/// Checks a part of a command within a sentence: its name and its flags must exist.
pub fn complaint_about_part(code: &str) -> Option<String> {
    let words = shlex::split(code).unwrap_or_default();
    match words.first()?.as_str() {
        "threadcount" => unknown_flag(&words[1..]),
        "./dev" | "cargo" => complaint(code),
        _ => None,
    }
}

fn unknown_flag(words: &[String]) -> Option<String> {
    let mut program = Cli::command();
    program.build();
    let is_flag = |word: &str| word.starts_with('-');
    let name = words.iter().find(|word| !is_flag(word));
    let command = match name {
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command,
            None => return Some(format!("there is no command `{name}`")),
        },
        None => &program,
    };
    let mut flags = words.iter().map(|word| word.trim_matches(['[', ']'])).filter(|word| is_flag(word));
    flags.find(|flag| !has_flag(command, flag)).map(|flag| format!("there is no flag `{flag}`"))
}

fn has_flag(command: &Command, written: &str) -> bool {
    let name = written.split('=').next().unwrap_or_default();
    command.get_arguments().any(|known| {
        let long = known.get_long_and_visible_aliases().unwrap_or_default();
        let short = known.get_short_and_visible_aliases().unwrap_or_default();
        long.iter().any(|it| name == format!("--{it}")) || short.iter().any(|it| name == format!("-{it}"))
    })
}

/// Checks a command of `./dev`. The commands are the labels of its `case`, and the flags of `dist` are those of tools/dist.
fn not_in_dev(words: &[&str]) -> Option<String> {
    let script = fs::read_to_string(Path::new(ROOT).join("dev")).unwrap();
    let cases = script.split_once("main() {").unwrap().1.split_once("esac").unwrap().0;
    let labels: Vec<&str> = cases
        .lines()
        .filter_map(|line| line.trim_start().split_once(')'))
        .flat_map(|it| it.0.split('|'))
        .collect();
    let (name, rest) = words.split_first()?;
    if !labels.contains(name) {
        return Some(format!("./dev has no command `{name}`"));
    }
    let flags = fs::read_to_string(Path::new(ROOT).join("tools/dist/__main__.py")).unwrap();
    let is_known = |flag: &str| *name != "dist" || flags.contains(&format!("add_argument(\"{flag}\""));
    let mut unknown =
        rest.iter().map(|it| it.trim_matches(['[', ']'])).filter(|it| it.starts_with("--") && !is_known(it));
    unknown.next().map(|flag| format!("./dev dist has no flag `{flag}`"))
}

/// Checks that the files and packages named by `--test NAME`, `--path FOLDER` and `-p` exist.
fn not_in_the_workspace(words: &[&str]) -> Option<String> {
    let is_there = |path: String| Path::new(ROOT).join(path).exists();
    for pair in words.windows(2) {
        let (flag, value) = (pair[0], pair[1]);
        let found = match flag {
            "--test" => crates().any(|folder| {
                folder.join(format!("tests/{value}.rs")).is_file()
                    || folder.join(format!("tests/{value}/main.rs")).is_file()
            }),
            "--path" => is_there(format!("{value}/Cargo.toml")),
            "-p" | "--package" => crates().any(|it| package(&it) == value),
            _ => true,
        };
        if !found {
            return Some(format!("cargo: {flag} {value} is not there"));
        }
    }
    None
}

/// The folders of the workspace's crates.
fn crates() -> impl Iterator<Item = PathBuf> {
    let folders = fs::read_dir(ROOT).into_iter().flatten().flatten().map(|it| it.path());
    folders.filter(|it| it.join("Cargo.toml").is_file())
}

fn package(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let name = text.lines().find_map(|it| it.strip_prefix("name = \""));
    name.map(|it| it.trim_end_matches('"').to_owned()).unwrap_or_default()
}

/// The lines in a page's blocks with their numbers. A continued line counts as one.
pub fn lines(page: &Page) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for block in page.blocks.iter().filter(|it| ["", "sh"].contains(&it.language.as_str())) {
        let mut command = String::new();
        for (before, line) in block.text.text.lines().enumerate() {
            // In the output of a terminal, commands begin with the prompt.
            let line = line.strip_prefix("$ ").unwrap_or(line);
            match line.strip_suffix('\\') {
                Some(begun) => command += begun,
                None => found.push((block.text.line + before, std::mem::take(&mut command) + line)),
            }
        }
    }
    found
}

#[test]
fn a_command_that_is_wrong_is_found_and_one_that_is_right_is_not() {
    for right in [
        "threadcount load http://127.0.0.1:8080/ -c 64 -d 5s   # a comment",
        "threadcount watch PID --json -d 3s | jq .type",
        "THREADCOUNT_HOME=/x threadcount list",
        "threadcount completions bash > completions/threadcount",
        "ctr run --rm localhost/threadcount:0.1.0 load /usr/bin/threadcount load http://127.0.0.1:8080/ -d 5s",
        "./dev dist --twice --try",
        "cargo test -p threadcount --test docs",
        "threadcount-load is a crate",
        "threadcount --version",
    ] {
        assert_eq!(complaint(right), None, "{right}");
    }
    for wrong in [
        "threadcount load http://127.0.0.1:8080/ --clients 64",
        "true && threadcount lod x",
        "threadcount watch 4711 -d 3",
        "ctr run x /usr/bin/threadcount lst",
        "./dev dits",
        "./dev dist --thrice",
        "cargo test -p threadcount --test dogs",
    ] {
        assert!(complaint(wrong).is_some(), "{wrong}");
    }
    let parts = [
        "threadcount self [--remove]",
        "threadcount load --json",
        "threadcount run NAME --runs=N",
        "threadcount load -c",
    ];
    assert_eq!(parts.map(complaint_about_part), [None, None, None, None]);
    for wrong in ["threadcount self [--forget]", "threadcount lod", "./dev dits"] {
        assert!(complaint_about_part(wrong).is_some(), "{wrong}");
    }
}
