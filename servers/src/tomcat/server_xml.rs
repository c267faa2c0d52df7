//! Tomcat's `conf/server.xml`, generated from a variant.

use threadcount_model::experiment::{DropIn, PoolSize, RequestLimit, Threads};

/// The Connector of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Connector {
    /// The port on which it listens on loopback.
    pub port: u16,
    /// The threads that requests run on.
    pub threads: Threads,
    /// The number of clients of the load, which is the size of a [`PoolSize::Clients`] pool.
    pub clients: u32,
    /// Connections that the kernel queues before `accept` (Tomcat's default of 100 is fewer than most loads open at once).
    pub accept_count: u32,
    /// `None` for Tomcat's default, or as many as the load needs.
    pub max_connections: Option<u32>,
    /// `None` for Tomcat's default of 200; -1 for no limit.
    pub processor_cache: Option<i32>,
}

/// Tomcat's default `maxConnections`.
const DEFAULT_MAX_CONNECTIONS: u32 = 8_192;

impl Connector {
    /// The maximum number of request threads; `None` without a limit.
    #[must_use]
    pub const fn pool_max_threads(&self) -> Option<u32> {
        match self.threads {
            Threads::Platform(PoolSize::Default) => Some(200),
            Threads::Platform(PoolSize::Fixed(size)) => Some(size),
            Threads::Platform(PoolSize::Clients) => Some(self.clients),
            Threads::Virtual | Threads::Executor(_) => None,
        }
    }

    /// The text of the file. Three attributes differ from Tomcat's defaults for every variant: it listens on loopback only,
    /// it does not close a connection after 100 requests (which would measure connecting), and `acceptCount` is set. There
    /// is no access log, no shutdown port (SIGTERM stops Tomcat) and no automatic deployment.
    #[must_use]
    pub fn server_xml(&self) -> String {
        let Self { port, accept_count, .. } = self;
        let executor = self.executor();
        let threads = self.thread_attributes();
        let connections = self.max_connections();
        let cache = self.processor_cache.map(|most| format!(" processorCache=\"{most}\""));
        let processors = cache.unwrap_or_default();
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Listener className="org.apache.catalina.startup.VersionLoggerListener" logArgs="false"/>
  <Service name="Catalina">{executor}
    <Connector port="{port}" address="127.0.0.1" protocol="HTTP/1.1"
               acceptCount="{accept_count}" maxKeepAliveRequests="-1"{connections}{processors}{threads}/>
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="webapps" unpackWARs="true" autoDeploy="false"/>
    </Engine>
  </Service>
</Server>
"#
        )
    }

    /// The Executor element, which must precede the Connector that names it.
    fn executor(&self) -> String {
        let mut limit = String::new();
        let (class, name) = match self.threads {
            Threads::Virtual => ("org.apache.catalina.core.StandardVirtualThreadExecutor", "virtual"),
            Threads::Executor(DropIn::Virtual) => {
                ("dev.threadcount.executors.VirtualThreadExecutor", "virtual")
            }
            Threads::Executor(DropIn::Cached) => ("dev.threadcount.executors.CachedThreadExecutor", "cached"),
            Threads::Executor(DropIn::BoundedVirtual(requests)) => {
                limit = limit_attributes(requests);
                ("dev.threadcount.executors.BoundedVirtualThreadExecutor", "virtual")
            }
            Threads::Platform(_) => return String::new(),
        };
        format!("\n    <Executor className=\"{class}\" name=\"{name}\" namePrefix=\"{name}-\"{limit}/>")
    }

    fn thread_attributes(&self) -> String {
        match self.threads {
            Threads::Virtual | Threads::Executor(DropIn::Virtual | DropIn::BoundedVirtual(_)) => {
                " executor=\"virtual\"".to_owned()
            }
            Threads::Executor(DropIn::Cached) => " executor=\"cached\"".to_owned(),
            Threads::Platform(PoolSize::Default) => String::new(),
            Threads::Platform(PoolSize::Fixed(size)) => format!(" maxThreads=\"{size}\""),
            Threads::Platform(PoolSize::Clients) => format!(" maxThreads=\"{}\"", self.clients),
        }
    }

    /// The attribute as configured, or if the load would exceed the default, a limit with room for readiness requests.
    fn max_connections(&self) -> String {
        let needed = self.clients + 100;
        match self.max_connections {
            Some(asked) => format!(" maxConnections=\"{asked}\""),
            None if needed <= DEFAULT_MAX_CONNECTIONS => String::new(),
            None => format!(" maxConnections=\"{needed}\""),
        }
    }
}

fn limit_attributes(limit: RequestLimit) -> String {
    let RequestLimit { max_concurrent, max_queue, queue_timeout_ms } = limit;
    format!(
        " maxConcurrent=\"{max_concurrent}\" maxQueue=\"{max_queue}\" queueTimeoutMs=\"{queue_timeout_ms}\""
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn connector(threads: Threads, clients: u32) -> Connector {
        Connector {
            port: 8080,
            threads,
            clients,
            accept_count: 1000,
            max_connections: None,
            processor_cache: None,
        }
    }

    #[test]
    fn the_default_pool_configures_no_threads_at_all() {
        let connector = connector(Threads::Platform(PoolSize::Default), 400);
        assert_eq!(connector.pool_max_threads(), Some(200));
        insta::assert_snapshot!(connector.server_xml(), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <Server port="-1">
          <Listener className="org.apache.catalina.startup.VersionLoggerListener" logArgs="false"/>
          <Service name="Catalina">
            <Connector port="8080" address="127.0.0.1" protocol="HTTP/1.1"
                       acceptCount="1000" maxKeepAliveRequests="-1"/>
            <Engine name="Catalina" defaultHost="localhost">
              <Host name="localhost" appBase="webapps" unpackWARs="true" autoDeploy="false"/>
            </Engine>
          </Service>
        </Server>
        "#);
    }

    #[test]
    fn virtual_threads_come_from_an_executor_before_the_connector() {
        let connector = connector(Threads::Virtual, 400);
        assert_eq!(connector.pool_max_threads(), None);
        insta::assert_snapshot!(connector.server_xml(), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <Server port="-1">
          <Listener className="org.apache.catalina.startup.VersionLoggerListener" logArgs="false"/>
          <Service name="Catalina">
            <Executor className="org.apache.catalina.core.StandardVirtualThreadExecutor" name="virtual" namePrefix="virtual-"/>
            <Connector port="8080" address="127.0.0.1" protocol="HTTP/1.1"
                       acceptCount="1000" maxKeepAliveRequests="-1" executor="virtual"/>
            <Engine name="Catalina" defaultHost="localhost">
              <Host name="localhost" appBase="webapps" unpackWARs="true" autoDeploy="false"/>
            </Engine>
          </Service>
        </Server>
        "#);
    }

    #[test]
    fn our_executors_are_named_with_their_class() {
        let cached = connector(Threads::Executor(DropIn::Cached), 400);
        let xml = cached.server_xml();
        assert!(xml.contains(
            "<Executor className=\"dev.threadcount.executors.CachedThreadExecutor\" name=\"cached\" \
             namePrefix=\"cached-\"/>"
        ));
        assert!(xml.contains(" executor=\"cached\"/>") && cached.pool_max_threads().is_none(), "{xml}");
        let xml = connector(Threads::Executor(DropIn::Virtual), 400).server_xml();
        assert!(xml.contains("dev.threadcount.executors.VirtualThreadExecutor"), "{xml}");
    }

    #[test]
    fn a_limit_on_requests_stands_in_the_executor() {
        let limit = RequestLimit { max_concurrent: 10, max_queue: 0, queue_timeout_ms: 1_500 };
        let bounded = connector(Threads::Executor(DropIn::BoundedVirtual(limit)), 400);
        let xml = bounded.server_xml();
        assert!(xml.contains(
            "<Executor className=\"dev.threadcount.executors.BoundedVirtualThreadExecutor\" name=\"virtual\" \
             namePrefix=\"virtual-\" maxConcurrent=\"10\" maxQueue=\"0\" queueTimeoutMs=\"1500\"/>"
        ));
        assert!(xml.contains(" executor=\"virtual\"/>"), "{xml}");
    }

    #[test]
    fn a_pool_is_as_large_as_asked_or_as_the_clients_are_many() {
        let fixed = connector(Threads::Platform(PoolSize::Fixed(33)), 400);
        assert!(fixed.server_xml().contains(" maxThreads=\"33\"/>"));
        let clients = connector(Threads::Platform(PoolSize::Clients), 400);
        assert!(clients.server_xml().contains(" maxThreads=\"400\"/>"));
        assert_eq!((fixed.pool_max_threads(), clients.pool_max_threads()), (Some(33), Some(400)));
    }

    #[test]
    fn a_cache_of_processors_is_set_only_where_it_is_asked_for() {
        assert!(!connector(Threads::Virtual, 400).server_xml().contains("processorCache"));
        let all = Connector { processor_cache: Some(-1), ..connector(Threads::Virtual, 400) };
        assert!(all.server_xml().contains(" processorCache=\"-1\" executor=\"virtual\"/>"));
    }

    #[test]
    fn more_clients_than_tomcat_lets_in_raise_its_limit() {
        assert!(!connector(Threads::Virtual, 8_000).server_xml().contains("maxConnections"));
        assert!(connector(Threads::Virtual, 10_000).server_xml().contains("maxConnections=\"10100\""));
        let asked = Connector { max_connections: Some(100_000), ..connector(Threads::Virtual, 400) };
        assert!(asked.server_xml().contains("maxConnections=\"100000\""));
    }
}
