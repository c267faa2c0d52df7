//! Finds the root cause in the log of a program that gave up: the deepest cause of its last stack trace, else the last line at the level of
//! an error, else the last complaint, else the last line.

/// The largest number of lines in a message; a longer text is something else.
const MOST_MESSAGE_LINES: usize = 30;
/// The longest cause in characters.
const LONGEST: usize = 400;

/// The levels of a log at which a program gives up, in lower case.
const LEVELS: [&str; 6] = ["error", "fatal", "severe", "critical", "panic", "panicked"];

/// Words of a complaint that has no level, in lower case.
const COMPLAINTS: [&str; 11] = [
    "fail",
    "cannot",
    "could not",
    "unable",
    "refused",
    "denied",
    "not found",
    "no such",
    "no matching",
    "invalid",
    "already in use",
];

/// The lines that `java` prints below the one that names the wrong option.
const BEHIND_THE_CAUSE: [&str; 2] = [
    "Error: Could not create the Java Virtual Machine.",
    "Error: A fatal exception has occurred. Program will exit.",
];

/// The words that introduce an exception in the first line of its trace.
const INTRODUCTIONS: [&str; 4] = ["Caused by: ", "[cause]: ", "Uncaught ", "Exception in thread "];

/// The line between two Python tracebacks, the first of which is the cause of the second.
const PYTHON_CAUSE: &str = "The above exception was the direct cause of the following exception:";

/// The root cause in the log of a program that has ended; `None` if the log is empty.
#[must_use]
pub fn cause(lines: &[String]) -> Option<String> {
    let lines: Vec<String> =
        lines.iter().filter(|line| !BEHIND_THE_CAUSE.contains(&line.trim())).cloned().collect();
    let last = || lines.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty());
    complaint(&lines).or_else(|| last().map(cut))
}

/// Like [`cause`] for a program that still runs, whose last line may be about something else.
#[must_use]
pub fn complaint(lines: &[String]) -> Option<String> {
    summary(lines).or_else(|| of_trace(lines)).or_else(|| trouble(lines)).as_deref().map(cut)
}

fn cut(cause: &str) -> String {
    let is_cut = cause.chars().count() > LONGEST;
    if is_cut { cause.chars().take(LONGEST).chain(['…']).collect() } else { cause.to_owned() }
}

/// The last line at the level of an error or with the name of an exception; without one, the last line with the words of a complaint. The
/// line below belongs to it if it ends in a colon, and to an error also if the log ends there.
#[must_use]
pub fn trouble(lines: &[String]) -> Option<String> {
    let last = |is_meant: fn(&str) -> bool| lines.iter().rposition(|line| !is_frame(line) && is_meant(line));
    let at = last(is_trouble).or_else(|| last(is_complaint))?;
    let line = lines[at].trim();
    let line = INTRODUCTIONS[..2].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
    let below = lines.get(at + 1).map(|below| below.trim()).filter(|below| !below.is_empty());
    let is_end = is_trouble(line) && lines[at + 1..].iter().filter(|it| !it.trim().is_empty()).count() == 1;
    Some(match below {
        Some(below) if line.ends_with(':') || is_end => format!("{line} {below}"),
        _ => line.to_owned(),
    })
}

fn is_trouble(line: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).any(|word| {
        word.ends_with("Exception") || word.ends_with("Error") || LEVELS.contains(&&*word.to_lowercase())
    })
}

fn is_complaint(line: &str) -> bool {
    let line = line.to_lowercase();
    COMPLAINTS.iter().any(|words| line.contains(words))
}

/// The program's own summary, like Spring Boot's: paragraphs below the headings `Description:` and `Action:`.
fn summary(lines: &[String]) -> Option<String> {
    let heading = |wanted: &str| lines.iter().rposition(|line| line.trim_end() == wanted);
    let (description, action) = (heading("Description:")?, heading("Action:")?);
    let paragraph = |from: &[String]| {
        let text = from.iter().map(|line| line.trim()).skip_while(|line| line.is_empty());
        text.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let whole = |from: &[String]| {
        let text: Vec<_> = from.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        text.join(" ")
    };
    let description = whole(lines.get(description + 1..action)?);
    let action = paragraph(&lines[action + 1..]);
    (!description.is_empty()).then(|| format!("{description} {action}").trim_end().to_owned())
}

/// The first line of the deepest cause in the last stack trace. Java and Node print the frames of a cause below it, and causes last; Python
/// prints frames above the exception, and causes first.
fn of_trace(lines: &[String]) -> Option<String> {
    if let Some(begin) = lines.iter().rposition(|line| line.starts_with("Traceback (most recent call last)"))
    {
        return of_traceback(lines, begin);
    }
    let last = lines.iter().rposition(|line| is_frame(line))?;
    let first = (0..=last).rev().find(|&at| !is_frame(&lines[at])).map_or(0, |above| above + 1);
    let above = &lines[first.saturating_sub(MOST_MESSAGE_LINES)..first];
    let head = above.iter().rposition(|line| is_head(line)).or_else(|| above.len().checked_sub(1))?;
    let message: Vec<_> = above[head..].iter().map(|line| line.trim()).collect();
    let message = message.join(" ");
    let stripped = INTRODUCTIONS[..2].iter().find_map(|word| message.strip_prefix(word));
    (!message.trim().is_empty()).then(|| stripped.unwrap_or(&message).trim().to_owned())
}

fn of_traceback(lines: &[String], begin: usize) -> Option<String> {
    let above = lines[..begin].iter().rposition(|line| !line.trim().is_empty());
    let earlier = above.filter(|&above| lines[above] == PYTHON_CAUSE);
    if let Some(earlier) = earlier
        && let Some(first) = lines[..earlier].iter().rposition(|line| line.starts_with("Traceback ("))
    {
        return of_traceback(&lines[..earlier], first);
    }
    let below = lines[begin + 1..].iter().find(|line| !line.starts_with(' ') && !line.trim().is_empty());
    below.map(|line| line.trim().to_owned())
}

/// Whether this is a line of a stack: `at ..`, `... 12 more`, `... 21 common frames omitted`.
#[must_use]
pub fn is_frame(line: &str) -> bool {
    let is_indented = line.starts_with([' ', '\t']);
    let line = line.trim();
    let is_count =
        line.strip_prefix("... ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_indented && (line.starts_with("at ") || is_count)
}

/// Whether this is the first line of an exception: its class, at the beginning or after introducing words.
fn is_head(line: &str) -> bool {
    let line = line.trim_start();
    if INTRODUCTIONS.iter().any(|word| line.starts_with(word)) {
        return true;
    }
    let class = line.split([':', ' ']).next().unwrap_or_default();
    let is_name = class.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$'));
    let simple = class.rsplit(['.', '$']).next().unwrap_or_default();
    is_name && (class.contains('.') || simple.ends_with("Error")) && simple.starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause_of(log: &str) -> Option<String> {
        cause(&log.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_deepest_cause_of_the_last_stack_trace_of_java_is_the_cause() {
        let log = "2026-11-28 INFO Starting\njava.io.IOException: earlier, and handled\n\tat a.B.c(B.java:1)\n\
            2026-11-28 ERROR Application run failed\norg.x.BeanCreationException: Error creating bean 'a'\n\tat a.B.c(B.java:1)\n\
            \tat a.B.d(B.java:2)\nCaused by: org.x.Wrapped: because\n\tat a.B.c(B.java:1)\n\t... 12 more\n\
            Caused by: java.lang.IllegalStateException: the property shop.url is missing:\n  write it\n\tat a.B.c(B.java:1)\n\
            \t... 20 common frames omitted\n2026-11-28 INFO Stopped\n";
        let cause = cause_of(log).unwrap();
        assert_eq!(cause, "java.lang.IllegalStateException: the property shop.url is missing: write it");
        let alone = "Exception in thread \"main\" java.lang.OutOfMemoryError: heap\n\tat A.b(A.java:1)\n";
        let cause = cause_of(alone).unwrap();
        assert_eq!(cause, "Exception in thread \"main\" java.lang.OutOfMemoryError: heap");
    }

    #[test]
    fn the_own_summary_of_a_program_goes_before_its_traces() {
        let log = "java.lang.X: y\n\tat a.B.c(B.java:1)\n\n***************************\nAPPLICATION FAILED TO START\n***************************\n\n\
            Description:\n\nWeb server failed to start. Port 8080 was already in use.\n\nAction:\n\nStop the process on port 8080.\n\n";
        let cause = cause_of(log).unwrap();
        assert_eq!(
            cause,
            "Web server failed to start. Port 8080 was already in use. Stop the process on port 8080."
        );
    }

    #[test]
    fn python_node_go_and_a_shell_name_their_cause_in_their_own_ways() {
        for (log, expected) in [
            (
                "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    import flask\n\
                 ModuleNotFoundError: No module named 'flask'\n",
                "ModuleNotFoundError: No module named 'flask'",
            ),
            (
                "Traceback (most recent call last):\n  File \"x.py\", line 1\nKeyError: 'PORT'\n\n\
                 The above exception was the direct cause of the following exception:\n\n\
                 Traceback (most recent call last):\n  File \"x.py\", line 3\nRuntimeError: no configuration\n",
                "KeyError: 'PORT'",
            ),
            (
                "node:internal/modules:1148\n  throw err;\n  ^\n\nError: Cannot find module './x'\n    at Module._load (a:1:2)\n    \
                 at b:3 {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.1\n",
                "Error: Cannot find module './x'",
            ),
            (
                "panic: runtime error: index out of range [0]\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:5 +0x1d\nexit status 2\n",
                "panic: runtime error: index out of range [0]",
            ),
            (
                "thread 'main' panicked at src/main.rs:2:5:\nno port\nnote: run with `RUST_BACKTRACE=1`\n",
                "thread 'main' panicked at src/main.rs:2:5: no port",
            ),
            (
                "starting\nserver: line 3: java: command not found\n\n",
                "server: line 3: java: command not found",
            ),
            (
                "No matching benchmarks. Miss-spelled regexp?\nUse EXTRA verbose mode to debug the pattern matching.\n",
                "No matching benchmarks. Miss-spelled regexp?",
            ),
            ("listen: address already in use\nusage: server [PORT]\n", "listen: address already in use"),
            ("started\nno main manifest attribute, in x.jar\n\n", "no main manifest attribute, in x.jar"),
            (
                "Unrecognized option: -foo\nError: Could not create the Java Virtual Machine.\n\
                 Error: A fatal exception has occurred. Program will exit.\n",
                "Unrecognized option: -foo",
            ),
            (
                "Error occurred during initialization of VM\nCould not reserve enough space for object heap\n",
                "Error occurred during initialization of VM Could not reserve enough space for object heap",
            ),
            (
                "Error: Could not find or load main class shop.App\nCaused by: java.lang.ClassNotFoundException: shop.App\n",
                "java.lang.ClassNotFoundException: shop.App",
            ),
            (
                "level=info msg=begins\nlevel=error msg=\"no port\"\nlevel=info msg=ends\nbye\n",
                "level=error msg=\"no port\"",
            ),
        ] {
            assert_eq!(cause_of(log).as_deref(), Some(expected), "{log}");
        }
        assert_eq!(cause_of(" \n\n"), None);
    }

    #[test]
    fn a_program_that_still_runs_has_no_cause_without_a_complaint() {
        assert_eq!(complaint(&["listening, terrors are no errors here".to_owned()]), None);
        assert_eq!(cause(&["listening".to_owned()]).as_deref(), Some("listening"));
    }

    #[test]
    fn a_line_without_a_complaint_is_no_trouble() {
        assert_eq!(trouble(&["started".to_owned(), "ready".to_owned()]), None);
    }
}
