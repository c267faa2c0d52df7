//! Jetty's `start.ini`, generated from a variant.

use threadcount_model::experiment::{JettyServer, PoolSize, Threads};

/// The default size of both of Jetty's pools: `maxThreads` of `QueuedThreadPool` and `maxConcurrentTasks` of
/// `VirtualThreadPool`.
const DEFAULT_SIZE: u32 = 200;

/// A variant's configuration with the values that a run adds.
#[derive(Clone, Copy, Debug)]
pub struct StartIni<'a> {
    /// The configuration of the variant.
    pub server: &'a JettyServer,
    /// The port on which it listens on loopback.
    pub port: u16,
    /// The number of clients of the load, which is the size of a [`PoolSize::Clients`] pool.
    pub clients: u32,
}

impl StartIni<'_> {
    /// The maximum number of request threads; `None` without a limit.
    #[must_use]
    pub fn pool_max_threads(&self) -> Option<u32> {
        match (&self.server.threads, self.server.max_concurrent_tasks) {
            (Threads::Platform(PoolSize::Fixed(size)), _) => Some(*size),
            (Threads::Platform(PoolSize::Clients), _) => Some(self.clients),
            (Threads::Platform(PoolSize::Default), _) => Some(DEFAULT_SIZE),
            (_, tasks) => Some(tasks.unwrap_or(DEFAULT_SIZE)).filter(|&tasks| tasks > 0),
        }
    }

    /// The text of the file: one connector on loopback, a Jakarta EE 10 web application, and a thread pool. Everything else is
    /// Jetty's default except `acceptQueueSize`.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { port, server, .. } = self;
        let (module, size) = self.threads();
        let size = size.map(|size| format!("{size}\n")).unwrap_or_default();
        let accept_count = server.accept_count;
        format!(
            "--modules=http,ee10-deploy,{module}\njetty.http.host=127.0.0.1\njetty.http.port={port}\n\
             jetty.http.acceptQueueSize={accept_count}\n{size}"
        )
    }

    /// The Jetty module of the pool, and its size if that is not Jetty's default.
    fn threads(&self) -> (&'static str, Option<String>) {
        const PLATFORM: &str = "threadpool";
        let platform = |size: u32| (PLATFORM, Some(format!("jetty.threadPool.maxThreads={size}")));
        match &self.server.threads {
            Threads::Platform(PoolSize::Default) => (PLATFORM, None),
            Threads::Platform(PoolSize::Fixed(size)) => platform(*size),
            Threads::Platform(PoolSize::Clients) => platform(self.clients),
            Threads::Virtual | Threads::Executor(_) => {
                let tasks = self.server.max_concurrent_tasks;
                let size = tasks.map(|tasks| format!("jetty.threadPool.virtual.maxConcurrentTasks={tasks}"));
                ("threadpool-virtual", size)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jetty(threads: Threads, max_concurrent_tasks: Option<u32>) -> JettyServer {
        let (version, app) = ("12.1".to_owned(), "servlets".to_owned());
        JettyServer { version, app, threads, accept_count: 4096, max_concurrent_tasks }
    }

    fn made(threads: Threads, tasks: Option<u32>) -> (String, Option<u32>) {
        let ini = StartIni { server: &jetty(threads, tasks), port: 8080, clients: 400 };
        (ini.text(), ini.pool_max_threads())
    }

    #[test]
    fn the_default_pool_is_jettys_own() {
        let (text, most) = made(Threads::Platform(PoolSize::Default), None);
        let expected = "--modules=http,ee10-deploy,threadpool\njetty.http.host=127.0.0.1\njetty.http.port=8080\n\
                        jetty.http.acceptQueueSize=4096\n";
        assert_eq!((text.as_str(), most), (expected, Some(200)));
    }

    #[test]
    fn a_pool_has_the_size_that_is_written_or_that_of_the_load() {
        for (size, most) in [(PoolSize::Fixed(33), 33), (PoolSize::Clients, 400)] {
            let (text, found) = made(Threads::Platform(size), None);
            assert!(text.ends_with(&format!("\njetty.threadPool.maxThreads={most}\n")), "{text}");
            assert_eq!(found, Some(most));
        }
    }

    #[test]
    fn the_virtual_pool_is_limited_as_jetty_has_it_or_as_it_is_written() {
        let tasks = "jetty.threadPool.virtual.maxConcurrentTasks=";
        for (written, line, most) in
            [(None, None, Some(200)), (Some(400), Some("400"), Some(400)), (Some(0), Some("0"), None)]
        {
            let (text, found) = made(Threads::Virtual, written);
            assert!(text.contains("threadpool-virtual\n"), "{text}");
            let found_line = text.lines().find_map(|it| it.strip_prefix(tasks));
            assert_eq!((found_line, found), (line, most), "{written:?}");
        }
    }
}
