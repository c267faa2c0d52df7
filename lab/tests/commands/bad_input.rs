//! Mistakes on the command line and in files. The program answers each one with what to write instead and exit code 2, before it starts
//! anything.

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// The text on stderr of a call in a folder, which must end with exit code 2.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("threadcount").unwrap();
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1");
    command
        .env("THREADCOUNT_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .timeout(Duration::from_secs(120));
    let output = command.output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {printed}");
    assert!(!printed.contains("panicked"), "{arguments:?}: {printed}");
    printed
}

#[test]
fn what_is_refused_is_quoted_without_its_secrets() {
    let folder = TempDir::new().unwrap();
    let printed = refused(folder.path(), &["load", "http://me:s3cret@h:99999/"]);
    assert!(
        printed.contains("99999 is not a port")
            && printed.contains("me:***@h")
            && !printed.contains("s3cret"),
        "{printed}"
    );
    let variant = "a=DB_PASSWORD=s3cret ./no-such-server {port}";
    let words =
        ["compare", "--url", "http://127.0.0.1:{port}/", "--variant", variant, "--variant", "b=true {port}"];
    assert!(!refused(folder.path(), &words).contains("s3cret"));
}

#[test]
fn bad_input_is_refused_with_what_to_write() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a-file"), "").unwrap();
    let sni = "question: q\nserver: {command: 'x {port}'}\nrequest: /\nvariants: {a: {}}\nloads: [{clients: 1, duration: 1s, sni: x}]\n";
    fs::write(folder.path().join("sni.yaml"), sni).unwrap();
    fs::write(folder.path().join("data.csv"), "id,mail\n1,a@b\n").unwrap();
    let url = "http://127.0.0.1:1/";
    let known: &[(&[&str], &str)] = &[
        (&["load", "foo"], "write the scheme too, http://foo"),
        (&["load", "http://h:99999/"], "99999 is not a port"),
        (&["load", url, "-c", "-5"], "write a whole number, e.g. 64"),
        (&["load", url, "-n", "0"], "it must be at least 1"),
        (&["load", url, "-d", "5"], "write 5s for seconds"),
        (&["load", url, "-d", "0"], "it must be longer than 0"),
        (&["load", url, "-d", "99999999999999999999h"], "it is longer than a year"),
        (&["load", url, "-r", "-1"], "write requests per second or per minute"),
        (&["load", url, "-r", "99999999999M"], "it is more than 100M/s"),
        (&["load", url, "-t2"], "for a number of threads write --threads 2"),
        (&["load", url, "-H", "foo"], "write it as 'Name: value'"),
        (&["load", url, "-b", "@missing"], "--data @missing: cannot read the file"),
        (&["load", url, "--expect", "999"], "not a status from 100 to 599"),
        (&["load", url, "--targets", "x"], "--targets and a URL: give one of the two"),
        (&["load", "--targets", "missing"], "--targets cannot read `missing`"),
        (&["load", url, "--resolve", "a:80:b"], "`b` is not an IP address"),
        (&["load", url, "--connect-to", "a:80"], "write HOST1:PORT1:HOST2:PORT2"),
        (&["load", url, "--unix-socket", "x", "--resolve", "a:80:1.2.3.4"], "cannot be used with"),
        (&["load", url, "--sni", "a.test"], "--sni is for https: write https:// in the URL"),
        (&["load", url, "--cacert", "a.pem"], "--cacert is for https"),
        (&["load", url, "--key", "k.pem"], "--cert <FILE>"),
        (
            &["load", "https://127.0.0.1:1/", "--cacert", "missing.pem"],
            "--cacert missing.pem: it cannot be read as PEM",
        ),
        (&["load", "https://127.0.0.1:1/", "--cacert", "a-file"], "--cacert a-file: it has no certificate"),
        (&["load", "https://127.0.0.1:1/", "--sni", "a b"], "--sni a b: not a host name"),
        (&["load", url, "--expect-body", "regex:(a"], "`(a` is not a regular expression: unclosed group"),
        (&["load", url, "--expect-body", ""], "write a text that the body must contain"),
        (&["load", url, "--capture", "token"], "write it as NAME=header:FIELD"),
        (&["load", url, "--capture", "a=regex:b"], "put the value in parentheses"),
        (&["load", url, "--capture", "a=json:/b", "--capture", "a=json:/c"], "--capture has a twice"),
        (&["load", "http://h/{capture:id}"], "write --capture id=header:FIELD"),
        (&["load", url, "--cookies", "--disable-keepalive"], "leave out --disable-keepalive"),
        (&["load", url, "--log", "-"], "name a file, e.g. requests.csv"),
        (&["load", url, "--log", "x.parquet"], "ends with .csv or .csv.gz"),
        (&["load", url, "--grace", "5"], "write 5s for seconds"),
        (&["load", url, "--lateness", "1ms"], "--rate <RATE>"),
        (&["load", url, "--ramp", "0:0:1s"], "one of its two rates must be above 0"),
        (&["load", "http://h/{csv:missing.csv:id}"], "`{csv:missing.csv:id}`: it cannot be read"),
        (&["load", "http://h/{csv:data.csv:name}"], "it has no such column; its first line names id, mail"),
        (&["load", "http://h/{csv:data.csv}"], "Write {rand:1:1000}"),
        (&["load", "http://h/{rand:9:1}"], "is not a placeholder. Write {rand:1:1000}"),
        (&["run", "tomcat-blockin"], "did you mean `tomcat-blocking`?"),
        (&["run", "tomcat-blocking", "--runs", "0"], "it must be at least 1"),
        (&["run", "tomcat-blocking", "--runs", "-1"], "write a whole number"),
        (&["run", "tomcat-blocking", "--budget", "0"], "it must be longer than 0"),
        (&["run", "tomcat-blocking", "--jdk", "x"], "write Java feature versions, e.g. 21,25"),
        (&["run", "tomcat-blocking", "--variant", "nosuch"], "its variants: platform"),
        (&["run", "tomcat-blocking", "--fail-if", "x y"], "`x` names no known variant"),
        (
            &["compare", "--url", "x", "--variant", "a=b", "--variant", "c=d"],
            "not an http:// or https:// address",
        ),
        (&["compare", "--url", url, "--variant", "a=b"], "compare needs at least two variants"),
        (&["compare", "--url", url, "--variant", "a", "--variant", "c=d"], "write NAME='COMMAND'"),
        (
            &["compare", "--url", url, "--variant", "a=b", "--variant", "c=d", "--ready", "x"],
            "--health x: not a path",
        ),
        (
            &["compare", "--url", url, "--variant", "a=b", "--variant", "c=d", "--sni", "x"],
            "--sni is for https",
        ),
        (&["run", "./sni.yaml"], "sni (load `c1`, variant `a`): `sni` is for https"),
        (
            &["compare", "--url", "http://h:{port}/", "--variant", "a=b", "--variant", "c=d"],
            "write `{port}` in the command too",
        ),
        (&["compare", "--url", "/"], "--spring-boot <APP.jar>"),
        (&["compare", "--spring-boot", "a-file", "--url", "/"], "a-file: it is not a jar that can be read"),
        (
            &["compare", "--spring-boot", "missing.jar", "--url", "/"],
            "write the path of the application's jar",
        ),
        (&["compare", "--spring-boot", "a-file", "--url", url], "write what follows the host"),
        (&["compare", "--spring-boot", "a-file", "--war", "a-file", "--url", "/"], "cannot be used with"),
        (&["compare", "--war", "a-file", "--url", "/"], "there is no such file with the ending .war"),
        (
            &["compare", "--url", url, "--variant", "a=b", "--variant", "c=d", "--before", "x {port}"],
            "--before: the port is not known to this command",
        ),
        (
            &["compare", "--url", url, "--variant", "a=b", "--variant", "c=d", "--args", "x"],
            "--args has no effect",
        ),
        (
            &["compare", "--url", url, "--variant", "a=b", "--variant", "c=d", "--env", "x"],
            "write NAME=VALUE",
        ),
        (&["compare", "--attach", "1", "--url", "/"], "write the whole URL"),
        (&["compare", "--attach", "shop", "--url", "/"], "write the process id of the JVM"),
        (&["compare", "--attach", url, "--url", "/"], "no process that we may see listens at port 1"),
        (&["compare", "--attach", url, "--url", "/", "--save", "x.yaml"], "cannot be used with"),
        (&["compare", "--attach", url, "--url", "/", "--no-probe"], "cannot be used with"),
        (&["compare", "--attach", url, "--url", "/", "--resume", "x"], "cannot be used with"),
        (
            &["compare", "--war", "x.war", "--url", "/", "--crossover", "--fail-if", "x"],
            "cannot be used with",
        ),
        (
            &["compare", "--war", "x.war", "--url", "/", "--crossover", "--save", "x.yaml"],
            "cannot be used with",
        ),
        (&["compare", "--war", "x.war", "--url", "/", "--crossover", "--runs", "2"], "cannot be used with"),
        (&["compare", "--attach", url, "--url", "/", "--warmup", "3s"], "cannot be used with"),
        (&["report", "missing"], "name a folder that `threadcount run` or `compare` has written"),
        (&["report", "a-file"], "it ends in the middle"),
        (&["watch", "abc"], "write the number of a process; `jps -l` lists the JVMs"),
        (&["watch", "-5"], "write the number of a process"),
        (&["history", "missing"], "missing is not a folder"),
    ];
    for (arguments, expected) in known {
        let printed = refused(folder.path(), arguments);
        assert!(printed.contains(expected), "{arguments:?}: {printed}");
    }
}

/// The copy of the program has no checkout above it.
#[test]
fn a_pipe_that_nobody_reads_takes_no_result_and_is_not_waited_for() {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for flag in ["--out", "--hgrm", "--csv", "--hlog"] {
        let printed = refused(folder.path(), &["load", "http://127.0.0.1:9/", "-n", "1", flag, "pipe"]);
        assert!(printed.contains(flag) && printed.contains("nobody reads it"), "{printed}");
    }
}

#[test]
fn a_list_of_no_experiments_says_where_they_would_be() {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("threadcount");
    let copied = std::process::Command::new("cp").arg(cargo_bin("threadcount")).arg(&program).status();
    assert!(copied.unwrap().success());
    let mut list = std::process::Command::new(&program);
    list.arg("list").current_dir(&folder).env_remove("THREADCOUNT_HOME");
    let output = list.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(
        printed.contains("there are no experiments here") && printed.contains("THREADCOUNT_HOME"),
        "{printed}"
    );
}

/// The cache is empty, and Maven leaves a trace when it is called.
#[test]
fn check_downloads_nothing_and_says_when_a_tomcat_will_be() {
    let folder = TempDir::new().unwrap();
    let maven = folder.path().join("mvn");
    let trace = folder.path().join("was-called");
    let script = format!("#!/bin/sh\n[ \"$1\" = --version ] || touch '{}'\n", trace.display());
    fs::write(&maven, script).unwrap();
    assert!(std::process::Command::new("chmod").arg("+x").arg(&maven).status().unwrap().success());
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut check = Command::cargo_bin("threadcount").unwrap();
    let output = check.arg("check").env("XDG_CACHE_HOME", folder.path()).env("PATH", path).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        printed.matches("the first run that needs it fetches it from Maven Central").count(),
        3,
        "{printed}"
    );
    assert!(!trace.exists(), "Maven was called: {printed}");
}

#[test]
fn a_result_that_is_none_says_why() {
    let folder = TempDir::new().unwrap();
    let report = |written: &str| {
        fs::write(folder.path().join("result.json"), written).unwrap();
        refused(folder.path(), &["report", "."])
    };
    assert!(report("").contains("it ends in the middle"));
    assert!(report(r#"{"schema": "threadcount/result/3", "exp"#).contains("it ends in the middle"));
    assert!(
        report(r#"{"schema": "threadcount/result/9"}"#)
            .contains("its schema is `threadcount/result/9`, and this is")
    );
    assert!(report("{}").contains("it has no `schema`"));
    assert!(report("[]").contains("is not a threadcount/result/3 document"));
}

#[test]
fn a_mistake_far_to_the_right_has_its_column_and_a_part_of_its_line() {
    let folder = TempDir::new().unwrap();
    let line = format!("loads: [{{clients: 1,{}foo: 1, duration: 1s}}]\n", " ".repeat(69_982));
    let text = format!("question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}}}\n{line}");
    fs::write(folder.path().join("x.yaml"), text).unwrap();
    let printed = refused(folder.path(), &["run", "./x.yaml"]);
    assert!(
        printed.contains("x.yaml:5:70003") && printed.len() < 10_000,
        "{} bytes: {printed:.2000}",
        printed.len()
    );
}

#[test]
fn a_file_that_is_no_experiment_is_answered_with_its_line_and_without_a_screen_full_of_it() {
    let folder = TempDir::new().unwrap();
    let run = |content: &[u8]| {
        fs::write(folder.path().join("x.yaml"), content).unwrap();
        let printed = refused(folder.path(), &["run", "./x.yaml"]);
        assert!(printed.len() < 10_000, "{} bytes", printed.len());
        printed
    };
    let known: &[(&[u8], &str)] = &[
        (b"", "the file has nothing in it"),
        (b"hello\n", "an experiment is a map, and this is a single value"),
        (b"- question: q\n", "an experiment is a map, and this is a list"),
        (b"question: q\nserver:\n\ttomcat: 11.0\n", "indent with spaces, never with tabs"),
        (b"question: &q q\nvariants: *q\n", "anchors, aliases and tags are not understood here"),
        (b"question: q\nquestion: r\n", "`question` is written twice"),
        (b"question: q\n---\nquestion: r\n", "one file holds one experiment"),
        (b"question: q\nfoo: \xff\n", "line 2 has bytes that are not UTF-8"),
        (b"question: \0\n", "this is not YAML"),
        (
            b"question: q\nserver: {tomcat: 11.0}\nvariants: {a: {}}\nrequest: /\nloads: {clients: 1}\n",
            "write `loads: [{clients: 400, duration: 30s}]`",
        ),
    ];
    for (content, expected) in known {
        let printed = run(content);
        assert!(printed.contains(expected), "{printed}");
    }
    assert!(
        run(&[b"question: q\nfoo: ", "x".repeat(10_000_000).as_bytes()].concat())
            .contains("larger than 1 MiB")
    );
    assert!(
        run(&[b"question: q\nfoo: ", "x".repeat(900_000).as_bytes()].concat()).contains("has no key `foo`")
    );
    assert!(run(format!("question: {}", "[".repeat(100_000)).as_bytes()).contains("nested too deeply"));
}
