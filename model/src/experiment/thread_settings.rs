//! Settings for an application's threads from outside: variables or arguments that its framework knows.

use super::{DropIn, JarServer, Server, Subject, ThreadKind, Threads, Variant};

/// The variable that sets Spring Boot's kind of thread; an argument takes precedence.
pub const SPRING_VARIABLE: &str = "SPRING_THREADS_VIRTUAL_ENABLED";
const SPRING_ARGUMENT: &str = "--spring.threads.virtual.enabled=";
/// The variable that sets the largest number of Tomcat's threads in Spring Boot; an argument takes precedence.
pub const TOMCAT_POOL_VARIABLE: &str = "SERVER_TOMCAT_THREADS_MAX";
pub const JETTY_POOL_VARIABLE: &str = "SERVER_JETTY_THREADS_MAX";
pub const UNDERTOW_POOL_VARIABLE: &str = "SERVER_UNDERTOW_THREADS_WORKER";
const POOL_VARIABLES: [&str; 3] = [TOMCAT_POOL_VARIABLE, JETTY_POOL_VARIABLE, UNDERTOW_POOL_VARIABLE];
const POOL_ARGUMENTS: [&str; 3] =
    ["--server.tomcat.threads.max=", "--server.jetty.threads.max=", "--server.undertow.threads.worker="];
/// The variable that sets our limit on concurrent requests in a Spring Boot application.
pub const LIMIT_VARIABLE: &str = "THREADCOUNT_REQUEST_LIMIT_MAX_CONCURRENT";
const LIMIT_ARGUMENT: &str = "--threadcount.request-limit.max-concurrent=";
/// The variable that sets Helidon's limit on concurrent requests.
pub const HELIDON_LIMIT_VARIABLE: &str = "SERVER_MAX_DASH_CONCURRENT_DASH_REQUESTS";
/// The name of our jar with the limit.
pub const LIMIT_JAR: &str = "executors";

impl Variant {
    /// The kind of thread that a Spring Boot application is told to use.
    #[must_use]
    pub fn kind_setting(&self) -> Option<ThreadKind> {
        match self.thread_setting(&[SPRING_ARGUMENT], &[SPRING_VARIABLE])? {
            "true" => Some(ThreadKind::Virtual),
            "false" => Some(ThreadKind::Platform),
            _ => None,
        }
    }

    /// The number of concurrent requests to which an application is limited.
    #[must_use]
    pub fn limit_setting(&self) -> Option<u32> {
        self.thread_setting(&[LIMIT_ARGUMENT], &[LIMIT_VARIABLE, HELIDON_LIMIT_VARIABLE])?.parse().ok()
    }

    /// The largest number of platform threads that a Spring Boot application is told to use.
    #[must_use]
    pub fn pool_setting(&self) -> Option<u32> {
        self.thread_setting(&POOL_ARGUMENTS, &POOL_VARIABLES)?.parse().ok()
    }

    fn thread_setting(&self, arguments: &[&str], variables: &[&str]) -> Option<&str> {
        let Some(Server::Jar(JarServer { args, .. })) = self.server() else { return None };
        let value = |word| arguments.iter().find_map(|argument| str::strip_prefix(word, argument));
        let argument = args.split_whitespace().rev().find_map(value);
        argument.or_else(|| variables.iter().find_map(|name| self.env.get(*name).map(String::as_str)))
    }

    /// Whether the experiment limits the requests that may be in work at once on virtual threads.
    #[must_use]
    pub fn has_request_limit(&self) -> bool {
        let threads = self.server().and_then(Server::threads);
        matches!(threads, Some(Threads::Executor(DropIn::BoundedVirtual(_))))
            || self.limit_setting().is_some()
    }

    /// The variant without its name and without the settings of its threads and of the limit on its requests.
    pub(super) fn apart_from_thread_settings(&self) -> Self {
        let mut alike = Self { answers_on: None, skipped: None, ..self.apart_from_threads() };
        alike.env.retain(|name, _| {
            let is = |names: &[&str]| names.contains(&name.as_str());
            !is(&[SPRING_VARIABLE, LIMIT_VARIABLE, HELIDON_LIMIT_VARIABLE]) && !is(&POOL_VARIABLES)
        });
        if let Subject::Server(Server::Jetty(jetty)) = &mut alike.subject {
            jetty.max_concurrent_tasks = None;
        }
        if let Subject::Server(Server::Jar(jar)) = &mut alike.subject {
            let mut of_threads = POOL_ARGUMENTS.to_vec();
            of_threads.extend([SPRING_ARGUMENT, LIMIT_ARGUMENT]);
            let is_other = |word: &&str| !of_threads.iter().any(|argument| word.starts_with(argument));
            jar.args = jar.args.split_whitespace().filter(is_other).collect::<Vec<_>>().join(" ");
            jar.class_path.retain(|jar| jar != LIMIT_JAR);
        }
        alike
    }
}
