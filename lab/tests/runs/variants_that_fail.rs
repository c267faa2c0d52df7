//! A server that does not work is found out after a few starts, not after thirty.

use crate::result_folders::{DELAY_SERVER, done, threadcount};
use crate::schema;
use std::fs;
use tempfile::TempDir;

/// A script in the folder that notes each start, and then runs `body`. `$1` is the port, `$n` the number of the start.
fn script(folder: &TempDir, name: &str, body: &str) -> String {
    let path = folder.path().join(name);
    let starts = path.with_extension("starts");
    let text = format!(
        "echo start >>{0}\nn=$(wc -l <{0})\nserver() {{ exec python3 {DELAY_SERVER} \"$1\" 5; }}\n{body}\n",
        starts.display()
    );
    fs::write(&path, text).unwrap();
    format!("sh {} {{port}}", path.display())
}

fn starts(folder: &TempDir, name: &str) -> usize {
    let starts = folder.path().join(name).with_extension("starts");
    fs::read_to_string(starts).unwrap_or_default().lines().count()
}

const TRACE: &str = "cat <<'E'\nException in thread \"main\" a.Outer: no bean\n\tat a.B.c(B.java:1)\nCaused by: a.Inner: property shop.url is \
    missing; password=hunter2\n\tat a.B.c(B.java:1)\n\t... 3 more\nE\nexit 3";

fn compared<'a>(variants: &'a [String], runs: &'a str) -> Vec<&'a str> {
    let fixed = [
        "compare",
        "--url",
        "http://127.0.0.1:{port}/",
        "--no-probe",
        "--warmup",
        "0s",
        "-c",
        "2",
        "-n",
        "50",
        "--out",
        "here",
    ];
    let variants = variants.iter().flat_map(|variant| ["--variant", variant]);
    let runs = ["--runs", runs].into_iter().filter(|_| !runs.is_empty());
    fixed.into_iter().chain(variants).chain(runs).collect()
}

#[test]
fn a_comparison_ends_with_the_root_cause_after_the_first_round_in_which_a_variant_never_became_ready() {
    let folder = tempfile::tempdir().unwrap();
    let variants = [
        format!("good={}", script(&folder, "good", "server \"$1\"")),
        format!("bad={}", script(&folder, "bad", TRACE)),
        format!("more={}", script(&folder, "more", "server \"$1\"")),
    ];
    let printed = done(&folder, &compared(&variants, ""), 1);
    assert_eq!((starts(&folder, "bad"), starts(&folder, "good")), (1, 1), "{printed}");
    let flat = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("Answer bad never became ready: a.Inner: property shop.url is missing; password=***"),
        "{printed}"
    );
    assert_eq!(printed.matches("a.Inner").count(), 1, "{printed}");
    assert!(
        flat.contains("server.log") && flat.contains("exit status: 3") && !flat.contains("hunter2"),
        "{printed}"
    );
    assert!(printed.lines().count() < 40, "{printed}");
    let document = schema::result_file(&folder.path().join("here"));
    assert_eq!(document["rounds"][0]["why"], "variant-failed");
    // A variant that was repaired meanwhile is tried again.
    let again =
        [&compared(&variants, "")[..10], &["--resume", "here"], &compared(&variants, "")[12..]].concat();
    let refused = done(&folder, &again, 1);
    assert_eq!(starts(&folder, "bad"), 2, "{refused}");
}

#[test]
fn a_variant_that_was_ready_before_may_fail_once_and_not_twice() {
    for (name, fails, code, expected) in
        [("once", "[ $n = 2 ] && exit 3", 1, 4), ("twice", "[ $n -ge 2 ] && exit 3", 1, 3)]
    {
        let folder = tempfile::tempdir().unwrap();
        let variants = [
            format!("good={}", script(&folder, "good", "server \"$1\"")),
            format!("{name}={}", script(&folder, name, &format!("{fails}\nserver \"$1\""))),
        ];
        let printed = done(&folder, &compared(&variants, "4"), code);
        assert_eq!(starts(&folder, name), expected, "{printed}");
    }
}

#[test]
fn a_variant_that_answers_no_request_as_expected_ends_a_comparison_and_one_that_answers_some_does_not() {
    let server = |answer: &str| {
        format!(
            "exec python3 -c 'import http.server,sys\nclass H(http.server.BaseHTTPRequestHandler):\n protocol_version = \"HTTP/1.1\"\n n = 0\n \
             def log_message(*a): pass\n def do_GET(s):\n  H.n += 1\n  s.send_response({answer})\n  \
             s.send_header(\"content-length\", \"0\")\n  s.end_headers()\n\
             http.server.HTTPServer((\"127.0.0.1\", int(sys.argv[1])), H).serve_forever()' \"$1\""
        )
        .replace("\\n", "\n")
    };
    for (answer, rounds) in [("404", 1), ("404 if H.n % 2 else 200", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let variants = [
            format!("good={}", script(&folder, "good", "server \"$1\"")),
            format!("wrong={}", script(&folder, "wrong", &server(answer))),
        ];
        let printed = done(&folder, &compared(&variants, "2"), 1);
        assert_eq!(starts(&folder, "wrong"), rounds, "{printed}");
        let flat = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        let answered = flat.contains(
            "Answer wrong did not work: 50 of 50 requests failed (100 %), mostly unexpected status 404",
        );
        assert_eq!(answered, rounds == 1, "{printed}");
    }
}

#[test]
fn an_experiment_of_a_file_goes_on_without_a_variant_that_does_not_work_while_two_others_do() {
    let folder = tempfile::tempdir().unwrap();
    let commands =
        [("good", "server \"$1\""), ("bad", "echo 'Error: no port'; exit 3"), ("more", "server \"$1\"")]
            .map(|(name, body)| format!("{name}: {{command: \"{}\"}}", script(&folder, name, body)));
    let text = format!(
        "question: q\nrequest: /\nwarmup: 0s\nruns: 2\nvariants: {{{}}}\nloads: [{{clients: 2, requests: 50}}]\n",
        commands.join(", ")
    );
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    let printed = done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"], 1);
    let [good, bad, more] = ["good", "bad", "more"].map(|name| starts(&folder, name));
    // A run with interference is repeated.
    assert!(good >= 2 && more >= 2 && bad == 1, "{good} {bad} {more}: {printed}");
    assert!(
        printed.contains("bad: no more runs, as it does not work") && printed.contains("Error: no port"),
        "{printed}"
    );
    let one = ["run", "./mine.yaml", "--no-probe", "--out", "one", "--variant", "good", "--variant", "bad"];
    let printed = done(&folder, &one, 1);
    assert_eq!(["good", "bad"].map(|name| starts(&folder, name)), [good + 1, bad + 1], "{printed}");
}

#[test]
fn a_comparison_has_a_budget_and_warns_of_a_fixed_port() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "compare",
        "--url",
        "http://127.0.0.1:18080/",
        "--variant",
        "a=./a --server.port=18080",
        "--variant",
        "b=./b -p 18080",
        "--save",
        "x.yaml",
    ];
    let output = threadcount(&folder, &words).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let flat = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("`--server.port=18080` of a and `-p 18080` of b are fixed ports"), "{printed}");
    let file = fs::read_to_string(folder.path().join("x.yaml")).unwrap();
    assert!(file.contains("budget: 5m"), "{file}");
}
