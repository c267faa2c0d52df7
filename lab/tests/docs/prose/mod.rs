//! How the project writes, checked: README, docs, CHANGELOG, the help of each command, the texts of the experiments, and the sentences
//! in the sources of the product and of the HTML report. The rules of a sentence are in `threadcount_model::sample::prose`; tests of
//! findings and diagnoses check with them what their sentences become.
//!
//! `exceptions.txt` counts the breaches that each page still has. Counts only fall: `UPDATE_PROSE=1 ./dev test prose` lowers
//! them to what is found, and nothing raises them.

mod literals;
mod output;
mod pieces;
mod rules;

use crate::generated;
use crate::markdown::{ROOT, page_names};
use clap::{Command, CommandFactory};
use rules::Breach;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use threadcount::cli::Cli;
use threadcount_model::sample::prose::{IN_OUTPUT, Limits, words};

const EXCEPTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/docs/prose/exceptions.txt");
/// Pages with these beginnings have no exception.
const WITHOUT_EXCEPTION: [&str; 3] = ["README.md", "docs/tutorials/", "docs/how-to/"];
/// Dates and commits stand on these.
const DATED: [&str; 3] = ["CHANGELOG.md", "docs/measurements/", "docs/decisions/"];
const IN_DOCS: usize = 25;
/// Words that a user may have to read, at most: README and docs without measurements, decisions and what is generated.
const WORDS_FOR_USERS: usize = 17_950;

/// The breaches of each page, of each command's help, of the experiments' questions, and of each file with output.
fn found() -> BTreeMap<String, Vec<Breach>> {
    let mut found = output::found();
    // What is generated is checked where it comes from.
    let names = page_names().into_iter().map(|it| it.display().to_string());
    for name in names.filter(|it| !generated::PAGES.contains(&it.as_str())) {
        let text = fs::read_to_string(Path::new(ROOT).join(&name)).unwrap();
        let has_dates = DATED.iter().any(|it| name.starts_with(it));
        let limits = Limits { words: IN_DOCS, has_dates };
        found.insert(name, rules::breaches(&pieces::of_markdown(&text), limits));
    }
    let mut program = Cli::command();
    program.build();
    add_help(&mut found, &program, "");
    found.insert("questions".to_owned(), of_questions());
    found
}

fn add_help(found: &mut BTreeMap<String, Vec<Breach>>, command: &Command, above: &str) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let name = format!("{above}{}", command.get_name());
    let arguments = command.get_arguments().filter(|it| !it.is_hide_set());
    let of_arguments = arguments.filter_map(|it| it.get_long_help().or_else(|| it.get_help()));
    let about = command.get_long_about().or_else(|| command.get_about());
    let after = command.get_after_long_help().or_else(|| command.get_after_help());
    let limits = Limits { words: IN_OUTPUT, has_dates: false };
    let texts = about.into_iter().chain(after).chain(of_arguments);
    let breaches = texts.flat_map(|it| rules::breaches(&pieces::of_help(&it.to_string()), limits)).collect();
    found.insert(format!("{name} --help"), breaches);
    for below in command.get_subcommands() {
        add_help(found, below, &format!("{name} "));
    }
}

fn of_questions() -> Vec<Breach> {
    let mut questions = String::new();
    let mut files: Vec<_> = fs::read_dir(Path::new(ROOT).join("experiments")).unwrap().flatten().collect();
    files.sort_by_key(std::fs::DirEntry::path);
    for file in files {
        let text = fs::read_to_string(file.path()).unwrap();
        let question = text.lines().find_map(|it| it.strip_prefix("question:"));
        questions += question.unwrap().trim().trim_matches(['"', '\'']);
        questions += "\n\n";
    }
    rules::breaches(&pieces::of_help(&questions), Limits { words: IN_OUTPUT, has_dates: false })
}

/// `COUNT PAGE` on each line.
fn exceptions() -> BTreeMap<String, usize> {
    let text = fs::read_to_string(EXCEPTIONS).unwrap();
    let lines = text.lines().filter(|it| !it.is_empty());
    lines
        .map(|it| it.split_once(' ').unwrap())
        .map(|(count, page)| (page.to_owned(), count.parse().unwrap()))
        .collect()
}

#[test]
fn prose_keeps_its_rules_but_for_exceptions_that_only_become_fewer() {
    let (found, allowed) = (found(), exceptions());
    if std::env::var_os("UPDATE_PROSE").is_some() {
        lower(&found, &allowed);
        return;
    }
    let mut wrong = Vec::new();
    for (page, breaches) in &found {
        let allowed = allowed.get(page).copied().unwrap_or(0);
        if breaches.len() > allowed {
            wrong.push(format!("{page} breaks {} rules, {allowed} allowed:", breaches.len()));
            wrong.extend(breaches.iter().map(|it| format!("  {page}:{it}")));
        } else if breaches.len() < allowed {
            let count = breaches.len();
            wrong.push(format!("{page}: {count} instead of {allowed}; run UPDATE_PROSE=1 ./dev test prose"));
        }
    }
    let gone = allowed.keys().filter(|it| !found.contains_key(*it));
    wrong.extend(gone.map(|it| format!("{it} is in exceptions.txt, and there is no such page")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn lower(found: &BTreeMap<String, Vec<Breach>>, allowed: &BTreeMap<String, usize>) {
    let lowered = allowed.iter().filter_map(|(page, allowed)| {
        let count = found.get(page)?.len().min(*allowed);
        (count > 0).then(|| format!("{count} {page}\n"))
    });
    fs::write(EXCEPTIONS, lowered.collect::<String>()).unwrap();
}

#[test]
fn the_first_pages_that_a_reader_opens_have_no_exception() {
    let excepted: Vec<String> = exceptions()
        .into_keys()
        .filter(|page| WITHOUT_EXCEPTION.iter().any(|it| page.starts_with(it)))
        .collect();
    assert_eq!(excepted, [] as [String; 0]);
}

#[test]
fn the_pages_for_users_are_read_in_an_afternoon() {
    let is_for_users = |name: &str| {
        let folders = ["docs/tutorials/", "docs/how-to/", "docs/reference/", "docs/explanation/"];
        let is_page = name == "README.md" || folders.iter().any(|it| name.starts_with(it));
        is_page && !generated::PAGES.contains(&name)
    };
    let names = page_names().into_iter().map(|it| it.display().to_string()).filter(|it| is_for_users(it));
    // Blocks of code and the lines of tables are no words.
    let words_of = |name: String| {
        let text = fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
        pieces::of_markdown(&text).iter().map(|it| words(&it.text)).sum::<usize>()
    };
    let total: usize = names.map(words_of).sum();
    assert!(total <= WORDS_FOR_USERS, "{total} words, {WORDS_FOR_USERS} at most");
}
