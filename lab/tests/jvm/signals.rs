//! SIGQUIT, by which a JVM is told to listen for commands, where the JVM does not handle it.

use super::attach::{Program, classes, idle};
use crate::java;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use threadcount_machine::attach::{CommandError, JvmProcess, Refusal, diagnostic_command};

const LIMIT: Duration = Duration::from_secs(60);

/// A program that starts a JVM itself, handles SIGQUIT before it does so, and ends when the signal comes.
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
