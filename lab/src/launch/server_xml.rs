//! Tomcat's `conf/server.xml`, made from what a variant says and nothing else.

use crate::experiment::{PoolSize, Threads};

/// What a variant decides about its Connector.
#[derive(Clone, Debug, PartialEq)]
pub struct Connector {
    /// Where it listens, on loopback.
    pub port: u16,
    /// How requests get their threads.
    pub threads: Threads,
    /// How many the load has; the size of a pool of [`PoolSize::Clients`].
    pub clients: u32,
    /// Connections the kernel holds before `accept` (Tomcat's default of 100 is fewer than most loads open at once).
    pub accept_count: u32,
}

/// Tomcat accepts so many connections at once, unless told otherwise.
const DEFAULT_MAX_CONNECTIONS: u32 = 8_192;

impl Connector {
    /// The most request threads it may have; `None`: no limit.
    #[must_use]
    pub const fn pool_max_threads(&self) -> Option<u32> {
        match self.threads {
            Threads::Platform(PoolSize::Default) => Some(200),
            Threads::Platform(PoolSize::Fixed(size)) => Some(size),
            Threads::Platform(PoolSize::Clients) => Some(self.clients),
            Threads::Virtual => None,
        }
    }

    /// The file. Three attributes differ from Tomcat's defaults for every variant: it listens on loopback only,
    /// a connection is never closed after 100 requests (that would measure connecting), and `acceptCount` is set. There is
    /// no access log, no shutdown port (SIGTERM stops it) and no automatic deployment.
    #[must_use]
    pub fn server_xml(&self) -> String {
        let Self { port, accept_count, .. } = self;
        let executor = self.executor();
        let threads = self.thread_attributes();
        let connections = self.max_connections();
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Listener className="org.apache.catalina.startup.VersionLoggerListener"/>
  <Service name="Catalina">{executor}
    <Connector port="{port}" address="127.0.0.1" protocol="HTTP/1.1"
               acceptCount="{accept_count}" maxKeepAliveRequests="-1"{connections}{threads}/>
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="webapps" unpackWARs="true" autoDeploy="false"/>
    </Engine>
  </Service>
</Server>
"#
        )
    }

    /// An Executor must stand before the Connector that names it.
    const fn executor(&self) -> &'static str {
        match self.threads {
            Threads::Virtual => {
                "\n    <Executor className=\"org.apache.catalina.core.StandardVirtualThreadExecutor\" \
                 name=\"virtual\" namePrefix=\"virtual-\"/>"
            }
            Threads::Platform(_) => "",
        }
    }

    fn thread_attributes(&self) -> String {
        match self.threads {
            Threads::Virtual => " executor=\"virtual\"".to_owned(),
            Threads::Platform(PoolSize::Default) => String::new(),
            Threads::Platform(PoolSize::Fixed(size)) => format!(" maxThreads=\"{size}\""),
            Threads::Platform(PoolSize::Clients) => format!(" maxThreads=\"{}\"", self.clients),
        }
    }

    /// Only where the load would run into the default limit, with room for those that ask whether it is ready.
    fn max_connections(&self) -> String {
        if self.clients + 100 <= DEFAULT_MAX_CONNECTIONS {
            return String::new();
        }
        format!(" maxConnections=\"{}\"", self.clients + 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn connector(threads: Threads, clients: u32) -> Connector {
        Connector { port: 8080, threads, clients, accept_count: 1000 }
    }

    #[test]
    fn the_default_pool_configures_no_threads_at_all() {
        let connector = connector(Threads::Platform(PoolSize::Default), 400);
        assert_eq!(connector.pool_max_threads(), Some(200));
        insta::assert_snapshot!(connector.server_xml(), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <Server port="-1">
          <Listener className="org.apache.catalina.startup.VersionLoggerListener"/>
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
          <Listener className="org.apache.catalina.startup.VersionLoggerListener"/>
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
    fn a_pool_is_as_large_as_asked_or_as_the_clients_are_many() {
        let fixed = connector(Threads::Platform(PoolSize::Fixed(33)), 400);
        assert!(fixed.server_xml().contains(" maxThreads=\"33\"/>"));
        let clients = connector(Threads::Platform(PoolSize::Clients), 400);
        assert!(clients.server_xml().contains(" maxThreads=\"400\"/>"));
        assert_eq!((fixed.pool_max_threads(), clients.pool_max_threads()), (Some(33), Some(400)));
    }

    #[test]
    fn more_clients_than_tomcat_lets_in_raise_its_limit() {
        assert!(!connector(Threads::Virtual, 8_000).server_xml().contains("maxConnections"));
        assert!(connector(Threads::Virtual, 10_000).server_xml().contains("maxConnections=\"10100\""));
    }
}
