//! Checks that everything in the documentation exists: commands and their flags, experiments, linked files and anchors. Only parsers run
//! here; `walkthrough.rs` and `step_by_step.rs` run the commands.

use crate::commands;
use crate::markdown::{Page, ROOT, page_names, pages};
use clap::CommandFactory;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use threadcount::cli::Cli;
use threadcount_config::{parse, project};

/// The pages about the present state, without the changelog.
fn current() -> impl Iterator<Item = Page> {
    pages().into_iter().filter(|it| it.name != Path::new("CHANGELOG.md"))
}

#[test]
fn every_command_in_the_documentation_is_understood() {
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for page in current() {
        for (line, command) in commands::lines(&page) {
            checked += usize::from(command.starts_with("threadcount "));
            let complaint = commands::complaint(&command);
            wrong.extend(complaint.map(|it| format!("{}:{line}: {command}: {it}", page.name.display())));
        }
        for code in &page.code {
            let complaint = commands::complaint_about_part(&code.text);
            wrong.extend(
                complaint.map(|it| format!("{}:{}: {}: {it}", page.name.display(), code.line, code.text)),
            );
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
    assert!(checked > 30, "{checked} commands were found");
}

#[test]
fn every_example_of_the_help_is_understood() {
    let program = Cli::command();
    let helps = program.get_subcommands().chain([&program]).filter_map(clap::Command::get_after_help);
    let text = helps.map(|it| it.to_string() + "\n").collect::<String>();
    // A command may continue in the next line, with any indentation.
    let text = text.replace("\\\n      ", "").replace("\\\n    ", "");
    let examples: Vec<&str> =
        text.lines().map(str::trim).filter(|it| it.starts_with("threadcount ")).collect();
    // In the list of commands, each has an explanation on its right.
    let wrong = examples.iter().filter_map(|it| commands::complaint(it.split("   ").next().unwrap()));
    assert_eq!(wrong.collect::<Vec<_>>(), [] as [String; 0]);
    assert!(examples.len() > 20, "{examples:#?}");
}

#[test]
fn every_shell_block_is_a_script() {
    for page in current() {
        for block in page.blocks.iter().filter(|it| it.language == "sh") {
            let mut shell =
                Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            shell.stdin.take().unwrap().write_all(block.text.text.as_bytes()).unwrap();
            let output = shell.wait_with_output().unwrap();
            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}:{}: {printed}", page.name.display(), block.text.line);
        }
    }
}

#[test]
fn every_whole_experiment_in_the_documentation_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let (mut experiments, mut projects) = (0, 0);
    for page in current() {
        for block in page.blocks.iter().filter(|it| it.language == "yaml") {
            let has = |key: &str| block.text.text.lines().any(|line| line.starts_with(key));
            let place = format!("{}:{}", page.name.display(), block.text.line);
            if has("experiments:") {
                // A variable of the environment would have to be set, so it becomes plain text.
                let file = folder.path().join("threadcount.yaml");
                fs::write(&file, block.text.text.replace("${", "$")).unwrap();
                assert!(project::read(&file, false).is_ok(), "{place}: {:?}", project::read(&file, false));
                projects += 1;
            } else if has("question:") {
                let read = parse("mine", "mine.yaml", &block.text.text, false);
                assert!(read.is_ok(), "{place}: {read:?}");
                experiments += 1;
            }
        }
    }
    assert!(experiments >= 2 && projects == 1, "{experiments} experiments, {projects} projects");
}

#[test]
fn every_link_leads_to_a_file_and_its_anchor_to_a_heading() {
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for page in pages() {
        for link in page.links.iter().filter(|it| !it.text.contains("://") && !it.text.starts_with("mailto:"))
        {
            let (target, anchor) = link.text.split_once('#').unwrap_or((link.text.as_str(), ""));
            let folder = page.name.parent().unwrap();
            let name = if target.is_empty() { page.name.clone() } else { folder.join(target) };
            let path = Path::new(ROOT).join(&name);
            let is_there = path.exists() && (anchor.is_empty() || Page::read(&name).anchors.contains(anchor));
            checked += 1;
            if !is_there {
                wrong.push(format!("{}:{}: {}", page.name.display(), link.line, link.text));
            }
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
    assert!(checked > 50, "{checked} links were found");
}

#[test]
fn every_path_that_the_architecture_names_is_there() {
    let page = Page::read(Path::new("docs/contributing/architecture.md"));
    let paths: Vec<&str> =
        page.code.iter().map(|it| it.text.as_str()).filter(|it| it.contains('/')).collect();
    let missing: Vec<_> = paths.iter().filter(|it| !Path::new(ROOT).join(it).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(paths.len() > 40, "{paths:?}");
}

#[test]
fn every_schema_that_an_editor_is_told_of_is_there() {
    let mut found = 0;
    for page in current() {
        let texts = page.blocks.iter().map(|it| &it.text.text).chain(page.code.iter().map(|it| &it.text));
        for written in
            texts.filter_map(|it| it.split_once("$schema=")).filter_map(|it| it.1.split_whitespace().next())
        {
            let name = Path::new(written).file_name().unwrap();
            // The path is relative to the folder of the experiments in a checkout. The installed schema has the same name.
            let kept = Path::new(ROOT).join("schema").join(name);
            assert!(kept.is_file(), "{}: {written}", page.name.display());
            let is_relative = written.starts_with("../");
            assert!(!is_relative || Path::new(ROOT).join("experiments").join(written).is_file(), "{written}");
            found += 1;
        }
    }
    assert!(found >= 2, "{found} headers");
}

#[test]
fn files_of_a_release_are_called_by_the_version_of_these_sources() {
    // Measurements name the version that was measured.
    let is_of_today =
        |name: &Path| name != Path::new("CHANGELOG.md") && !name.starts_with("docs/measurements");
    let names = page_names().into_iter().filter(|it| is_of_today(it));
    let text: String = names.map(|it| fs::read_to_string(Path::new(ROOT).join(it)).unwrap()).collect();
    let names = text.split(|it: char| !(it.is_ascii_alphanumeric() || "._:-".contains(it)));
    let versions = names.filter(|it| it.starts_with("threadcount")).filter_map(|name| {
        let version: String = name
            .chars()
            .skip_while(|it| !it.is_ascii_digit())
            .take_while(|it| "0123456789.".contains(*it))
            .collect();
        (version.matches('.').count() >= 2).then(|| version.trim_end_matches('.').to_owned())
    });
    let versions: Vec<String> = versions.collect();
    assert!(versions.len() > 5 && versions.iter().all(|it| it == env!("CARGO_PKG_VERSION")), "{versions:?}");
}

#[test]
fn each_function_that_the_dev_script_calls_by_name_is_there_once() {
    let read = |name: &str| fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
    let script = read("dev") + &read("tools/install.sh");
    let mut functions: Vec<&str> =
        script.lines().filter_map(|line| line.split_once("() {")).map(|it| it.0).collect();
    functions.sort_unstable();
    let twice: Vec<_> = functions.windows(2).filter(|it| it[0] == it[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let words = script.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'));
    for needs in words.filter(|it| it.starts_with("needs_of_")) {
        assert!(functions.contains(&needs), "./dev calls {needs}, which it does not have");
    }
}
