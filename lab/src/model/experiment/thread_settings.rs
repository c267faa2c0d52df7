//! Settings of an application's threads from outside: a variable or an argument that its framework knows.

use super::{JarServer, Server, Subject, ThreadKind, Variant};

/// What tells Spring Boot its kind of thread; an argument has precedence.
pub const SPRING_VARIABLE: &str = "SPRING_THREADS_VIRTUAL_ENABLED";
const SPRING_ARGUMENT: &str = "--spring.threads.virtual.enabled=";
/// What tells our limit in a Spring Boot application how many requests there may be at once.
pub const LIMIT_VARIABLE: &str = "THREADCOUNT_REQUEST_LIMIT_MAX_CONCURRENT";
const LIMIT_ARGUMENT: &str = "--threadcount.request-limit.max-concurrent=";
/// What tells Helidon.
pub const HELIDON_LIMIT_VARIABLE: &str = "SERVER_MAX_DASH_CONCURRENT_DASH_REQUESTS";
/// Our jar with the limit.
pub const LIMIT_JAR: &str = "executors";

impl Variant {
    /// The kind of thread that a Spring Boot application is told to use.
    #[must_use]
    pub fn kind_setting(&self) -> Option<ThreadKind> {
        match self.thread_setting(SPRING_ARGUMENT, &[SPRING_VARIABLE])? {
            "true" => Some(ThreadKind::Virtual),
            "false" => Some(ThreadKind::Platform),
            _ => None,
        }
    }

    /// How many requests at once an application is told to take.
    #[must_use]
    pub fn limit_setting(&self) -> Option<u32> {
        self.thread_setting(LIMIT_ARGUMENT, &[LIMIT_VARIABLE, HELIDON_LIMIT_VARIABLE])?.parse().ok()
    }

    fn thread_setting(&self, argument: &str, variables: &[&str]) -> Option<&str> {
        let Some(Server::Jar(JarServer { args, .. })) = self.server() else { return None };
        let argument = args.split_whitespace().rev().find_map(|word| word.strip_prefix(argument));
        argument.or_else(|| variables.iter().find_map(|name| self.env.get(*name).map(String::as_str)))
    }

    /// Is it the same application in the same JVM, with the same servers behind it, so that only the kind of its threads and the
    /// limit of its requests may differ?
    #[must_use]
    pub fn is_application_of(&self, other: &Self) -> bool {
        self.apart_from_thread_settings() == other.apart_from_thread_settings()
    }

    fn apart_from_thread_settings(&self) -> Self {
        let mut alike = Self { answers_on: None, skipped: None, ..self.apart_from_threads() };
        alike.env.retain(|name, _| {
            ![SPRING_VARIABLE, LIMIT_VARIABLE, HELIDON_LIMIT_VARIABLE].contains(&name.as_str())
        });
        if let Subject::Server(Server::Jar(jar)) = &mut alike.subject {
            let is_other =
                |word: &&str| !word.starts_with(SPRING_ARGUMENT) && !word.starts_with(LIMIT_ARGUMENT);
            jar.args = jar.args.split_whitespace().filter(is_other).collect::<Vec<_>>().join(" ");
            jar.class_path.retain(|jar| jar != LIMIT_JAR);
        }
        alike
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    fn variant(keys: &str) -> Variant {
        let text = format!(
            "question: q\nrequest: /\nvariants: {{a: {{{keys}}}}}\nloads: [{{clients: 4, duration: 1s}}]\n"
        );
        parse("x", "x.yaml", &text, false).expect("an experiment").variants[0].clone()
    }

    const JAR: &str = "server: {jar: mine, args: '--server.port={port}'}";

    #[test]
    fn a_spring_boot_application_has_its_kind_of_thread_from_an_argument_or_a_variable() {
        let kind = |more: &str| variant(&format!("{JAR}{more}")).kind_setting();
        assert_eq!(kind(""), None);
        assert_eq!(kind(", env: {SPRING_THREADS_VIRTUAL_ENABLED: 'true'}"), Some(ThreadKind::Virtual));
        assert_eq!(kind(", env: {SPRING_THREADS_VIRTUAL_ENABLED: 'false'}"), Some(ThreadKind::Platform));
        let both = ", args: '{port} --spring.threads.virtual.enabled=false', env: {SPRING_THREADS_VIRTUAL_ENABLED: 'true'}";
        assert_eq!(kind(both), Some(ThreadKind::Platform));
        let command = "server: {command: 'x {port}'}, env: {SPRING_THREADS_VIRTUAL_ENABLED: 'true'}";
        assert_eq!(variant(command).kind_setting(), None, "a command may be anything");
    }

    #[test]
    fn a_limit_comes_from_an_argument_or_a_variable() {
        let limit = |more: &str| variant(&format!("{JAR}{more}")).limit_setting();
        assert_eq!(limit(", args: '{port} --threadcount.request-limit.max-concurrent=200'"), Some(200));
        assert_eq!(limit(", env: {THREADCOUNT_REQUEST_LIMIT_MAX_CONCURRENT: '7'}"), Some(7));
        assert_eq!(limit(", env: {SERVER_MAX_DASH_CONCURRENT_DASH_REQUESTS: '9'}"), Some(9));
        assert_eq!(limit(""), None);
    }

    #[test]
    fn an_application_stays_itself_with_other_threads_and_another_limit_and_with_nothing_else() {
        let plain = variant(JAR);
        let is_same = |more: &str| variant(&format!("{JAR}{more}")).is_application_of(&plain);
        let settings = ", args: '--server.port={port} --spring.threads.virtual.enabled=true --threadcount.request-limit.max-concurrent=200'";
        assert!(
            is_same(settings)
                && is_same(", answers_on: virtual, env: {SPRING_THREADS_VIRTUAL_ENABLED: 'true'}")
        );
        assert!(!is_same(", args: '--server.port={port} --spring.datasource.hikari.maximum-pool-size=50'"));
        assert!(!is_same(", jvm: [-Xmx64m]") && !is_same(", env: {A: b}") && !is_same(", jdk: 21"));
    }
}
