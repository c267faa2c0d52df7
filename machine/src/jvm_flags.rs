//! The flags of a JVM as the JVM itself reports them.

use super::attach;
use std::collections::HashSet;

/// The diagnostic commands for the command line and for the flags in effect.
const QUESTIONS: [&str; 2] = ["VM.command_line", "VM.flags"];

/// The flags on the JVM's command line, as written, followed by the flags in effect: `-Xmx512m` and also `-XX:MaxHeapSize=536870912`. Empty
/// if this is not a JVM, or it did not respond.
#[must_use]
pub fn read(pid: u32) -> Vec<String> {
    let answers: Option<Vec<String>> = QUESTIONS.iter().map(|question| attach::ask(pid, question)).collect();
    answers.map(|answers| parse(&answers.join("\n"))).unwrap_or_default()
}

/// The first requested flag that the JVM does not report. Flags with a placeholder (`{port}`)
/// or a space are not checked, and nothing is missing if the JVM did not respond.
#[must_use]
pub fn missing<'a>(requested: &'a [String], reported: &[String]) -> Option<&'a str> {
    let literal = |flag: &&String| !flag.contains('{') && !flag.contains(' ') && flag.starts_with('-');
    // `--add-opens X` is two words in the request but `--add-opens=X` in the report.
    let mut literal = requested.iter().filter(literal).filter(|flag| !flag.starts_with("--"));
    literal.find(|flag| !reported.is_empty() && !reported.contains(flag)).map(String::as_str)
}

pub(super) fn parse(answer: &str) -> Vec<String> {
    let reported_args = answer.lines().find_map(|line| line.strip_prefix("jvm_args:")).unwrap_or_default();
    let set = answer.lines().find(|line| line.starts_with("-XX:")).unwrap_or_default();
    let mut flags: Vec<String> = Vec::new();
    for word in reported_args.split_whitespace().chain(set.split_whitespace()) {
        if !word.starts_with('-')
            && let Some(before) = flags.last_mut()
        {
            // This word continues a flag with a blank in it; only the command line contains such flags.
            before.push(' ');
            before.push_str(word);
        } else {
            flags.push(word.to_owned());
        }
    }
    let mut known = HashSet::new();
    flags.retain(|flag| known.insert(flag.clone()));
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_comes_first_and_nothing_twice() {
        let answer = "4711:\nVM Arguments:\njvm_args: -Xmx64m -XX:+UseSerialGC -Dname=a b\njava_command: Main 1\n\
            java_class_path (initial): .\nLauncher Type: SUN_STANDARD\n\
            -XX:CICompilerCount=2 -XX:MaxHeapSize=67108864 -XX:+UseSerialGC\n";
        let expected = [
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-Dname=a b",
            "-XX:CICompilerCount=2",
            "-XX:MaxHeapSize=67108864",
        ];
        assert_eq!(parse(answer), expected);
    }

    #[test]
    fn a_flag_that_the_jvm_does_not_report_is_missed() {
        let flags = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let given = flags("-Xmx64m -Dport={port} --add-opens java.base/java.lang=ALL-UNNAMED -XX:+UseZGC");
        assert_eq!(missing(&given, &flags("-Xmx64m -Dport=8080 -XX:+UseZGC")), None);
        assert_eq!(missing(&given, &flags("-Xmx64m -Dport=8080")), Some("-XX:+UseZGC"));
        assert_eq!(missing(&given, &[]), None);
    }

    #[test]
    fn a_jvm_that_says_nothing_has_no_flags() {
        assert_eq!(
            parse("4711:\njava.io.IOException: well-known file is not secure\n"),
            Vec::<String>::new()
        );
        assert_eq!(read(std::process::id()), Vec::<String>::new());
    }
}
