//! Flags of programs that take a password and do not have its name.

use super::names::words;

/// A letter whose value is a password.
struct PasswordFlag {
    /// How the program's name, or that of its command, begins.
    program: &'static str,
    letter: char,
    /// A blank may stand before the password.
    is_separate: bool,
}

const FLAGS: [PasswordFlag; 6] = [
    PasswordFlag { program: "mysql", letter: 'p', is_separate: false },
    PasswordFlag { program: "mariadb", letter: 'p', is_separate: false },
    PasswordFlag { program: "sshpass", letter: 'p', is_separate: true },
    PasswordFlag { program: "mongo", letter: 'p', is_separate: true },
    // docker, podman, helm, az ..
    PasswordFlag { program: "login", letter: 'p', is_separate: true },
    PasswordFlag { program: "redis-", letter: 'a', is_separate: true },
];

/// Where the password of a flag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PasswordAt {
    /// `-pPASSWORD`.
    SameWord,
    /// `-p PASSWORD`.
    NextWord,
}

/// Of a word, after these words of a command. `None`: it is no such flag.
pub(super) fn password_of_flag<'w>(before: impl Iterator<Item = &'w str>, word: &str) -> Option<PasswordAt> {
    let letter = word.strip_prefix('-')?.chars().next()?;
    let programs: Vec<&str> = before.map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    // `mysql-connector.jar` is no program.
    let is_program = |name: &str, program: &str| name.starts_with(program) && !name.contains('.');
    let flag = FLAGS.iter().find(|flag| {
        flag.letter == letter && programs.iter().any(|program| is_program(program, flag.program))
    })?;
    let is_alone = word.len() == "-p".len();
    match is_alone {
        false => Some(PasswordAt::SameWord),
        true => flag.is_separate.then_some(PasswordAt::NextWord),
    }
}

/// `--user`, `--proxy-user`, `-u`, `-U`, and `-su`, which is `-s -u`: the value may be NAME:PASSWORD.
pub(super) fn is_user_flag(name: &str) -> bool {
    const MOST_LETTERS: usize = 4;
    if let Some(long) = name.strip_prefix("--") {
        return words(long).last().is_some_and(|last| last == "user");
    }
    let letters = name.strip_prefix('-').and_then(|it| it.strip_suffix(['u', 'U']));
    letters.is_some_and(|it| it.len() < MOST_LETTERS && it.bytes().all(|it| it.is_ascii_alphabetic()))
}
