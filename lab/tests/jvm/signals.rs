//! A JVM that does not handle SIGQUIT, the signal that makes it listen for commands, and one that SIGSTOP stops while it answers.

use super::attach::{Program, classes, comes_true, idle};
use crate::java;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use threadcount_machine::attach::{CommandError, JvmProcess, Refusal, diagnostic_command};

const LIMIT: Duration = Duration::from_secs(60);

/// A program that handles SIGQUIT, then starts a JVM itself, and ends when the signal comes.
const LAUNCHER: &str = r#"
    #include <jni.h>
    #include <signal.h>
    #include <stdio.h>
    #include <unistd.h>
    static void end(int signal) { _exit(signal); }
    int main(void) {
        JavaVM *jvm; void *env; JavaVMOption option = { .optionString = "-Xrs" };
        JavaVMInitArgs arguments = { JNI_VERSION_10, 1, &option, 0 };
        signal(SIGQUIT, end);
        if (JNI_CreateJavaVM(&jvm, &env, &arguments)) return 1;
        puts("up"); fflush(stdout);
        sleep(600);
    }
"#;

fn launcher(folder: &Path) -> Command {
    let (source, program) = (folder.join("launcher.c"), folder.join("launcher"));
    fs::write(&source, LAUNCHER).unwrap();
    let home = &java::jdk().home;
    let library = home.join("lib/server");
    let mut cc = Command::new("cc");
    cc.arg(&source).arg("-o").arg(&program).arg("-I").arg(home.join("include"));
    cc.arg("-I").arg(home.join("include/linux")).arg("-L").arg(&library).arg("-ljvm");
    cc.arg(format!("-Wl,-rpath,{}", library.display()));
    assert!(cc.status().unwrap().success());
    Command::new(program)
}

#[test]
fn a_jvm_that_does_not_handle_sigquit_is_asked_while_it_listens_and_is_never_ended_by_the_signal() {
    let classes = classes();
    for command in [idle(25, classes.path(), &["-Xrs"]), launcher(classes.path())] {
        let mut program = Program::start(command);
        let jvm = JvmProcess::find(program.jvm).unwrap();
        let version = diagnostic_command(&jvm, "VM.version", LIMIT).unwrap();
        assert!(version.contains("JDK 25"), "with -Xrs a JVM listens from its start: {version}");
        fs::remove_file(format!("/tmp/.java_pid{}", program.jvm)).unwrap();
        let error = diagnostic_command(&jvm, "VM.version", LIMIT).unwrap_err();
        assert!(matches!(error, CommandError::Refused(Refusal::IgnoresSignal { .. })), "{error}");
        assert_eq!(program.child.try_wait().unwrap(), None, "it lives");
    }
}

#[test]
fn a_jvm_that_is_stopped_while_it_answers_is_said_to_be_stopped_and_not_to_be_slow() {
    let classes = classes();
    let program = Program::start(idle(25, classes.path(), &[]));
    let jvm = JvmProcess::find(program.jvm).unwrap();
    let ask = || diagnostic_command(&jvm, "Thread.print", Duration::from_secs(1));
    comes_true("it answers", || ask().is_ok());
    for round in 0..3 {
        let is_stopped = AtomicBool::new(false);
        let error = thread::scope(|scope| {
            // A busy machine may be slow before the signal.
            let failed = || ask().err().filter(|_| is_stopped.load(Ordering::Relaxed));
            let asked = scope.spawn(move || (0..).find_map(|_| failed()));
            thread::sleep(Duration::from_millis(50));
            program.signal("-STOP");
            is_stopped.store(true, Ordering::Relaxed);
            asked.join().unwrap().unwrap()
        });
        let says = error.to_string();
        assert!(says.contains("its process is stopped (SIGSTOP or Ctrl-Z)"), "round {round}: {says}");
        assert!(says.contains(&format!("`kill -CONT {}`", program.jvm)), "{says}");
        program.signal("-CONT");
        comes_true("it answers again", || ask().is_ok());
    }
}
