//! A frame of a stack, as thread dumps print it.

use serde::Serialize;
use std::fmt;

/// Whose code the question is not about: those of the probe (`Code.java`), too.
const LIBRARIES: [&str; 101] = [
    // The JDK
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    // Servers and their interfaces
    "jakarta.",
    "org.apache.catalina.",
    "org.apache.coyote.",
    "org.apache.tomcat.",
    "org.apache.juli.",
    "org.apache.jasper.",
    "org.eclipse.jetty.",
    "io.undertow.",
    "org.xnio.",
    "org.jboss.",
    "org.wildfly.",
    "io.netty.",
    "io.vertx.",
    "io.helidon.",
    "io.quarkus.",
    "io.smallrye.",
    "org.glassfish.",
    "com.ibm.ws.",
    "weblogic.",
    "io.grpc.",
    "io.micronaut.",
    "dev.threadcount.executors.",
    // Frameworks
    "org.springframework.",
    "reactor.",
    "rx.",
    "io.reactivex.",
    "org.reactivestreams.",
    "org.hibernate.",
    "org.aspectj.",
    "org.mybatis.",
    "org.jooq.",
    "com.google.common.",
    "com.google.gson.",
    "com.google.inject.",
    "com.google.protobuf.",
    "com.google.api.",
    "com.google.auth.",
    "com.google.cloud.",
    "com.fasterxml.",
    "tools.jackson.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "akka.",
    "groovy.",
    "org.codehaus.groovy.",
    "io.micrometer.",
    "io.opentelemetry.",
    "net.bytebuddy.",
    "com.github.benmanes.",
    "org.ehcache.",
    "org.flywaydb.",
    "io.github.resilience4j.",
    "com.netflix.hystrix.",
    "com.netflix.client.",
    "com.netflix.loadbalancer.",
    "com.netflix.discovery.",
    "org.thymeleaf.",
    "freemarker.",
    // Logging
    "ch.qos.logback.",
    "org.slf4j.",
    "org.apache.logging.",
    "org.apache.log4j.",
    // Pools, drivers and clients
    "com.zaxxer.hikari.",
    "io.agroal.",
    "io.r2dbc.",
    "com.mchange.",
    "oracle.",
    "org.apache.commons.",
    "org.postgresql.",
    "com.mysql.",
    "org.mariadb.",
    "com.microsoft.sqlserver.",
    "com.ibm.db2.",
    "org.h2.",
    "org.hsqldb.",
    "org.apache.derby.",
    "com.mongodb.",
    "redis.clients.",
    "io.lettuce.",
    "org.redisson.",
    "org.apache.kafka.",
    "com.rabbitmq.",
    "net.spy.",
    "org.elasticsearch.",
    "com.datastax.",
    "software.amazon.",
    "com.amazonaws.",
    "com.azure.",
    "org.apache.hc.",
    "org.apache.http.",
    "okhttp3.",
    "okio.",
    "retrofit2.",
    "feign.",
    "org.asynchttpclient.",
];

/// Applications that a library's people show it with.
const SAMPLES: [&str; 2] = ["org.springframework.samples.", "org.jboss.as.quickstarts."];

/// One method on a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    /// Class and method: `shop.Orders.find`.
    pub method: String,
    pub line: Option<u32>,
}

impl Frame {
    /// From `module/class.method(File.java:12)`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let (method, place) = text.split_once('(').unwrap_or((text, ""));
        // A loader or module comes first: `app//`, `java.base/`; a lambda's class has a `/` of its own at its end.
        let start = method.find('.').and_then(|_| first_of_class(method)).unwrap_or(0);
        let line = place.trim_end_matches(')').rsplit_once(':').and_then(|(_, line)| line.parse().ok());
        Self { method: method[start..].to_owned(), line }
    }

    #[must_use]
    pub fn is_application(&self) -> bool {
        let is_of = |names: &[&str]| names.iter().any(|name| self.method.starts_with(name));
        !is_of(&LIBRARIES) || is_of(&SAMPLES)
    }

    /// Whether it is this method of a class; `name` may leave out the package.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.method.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

fn first_of_class(method: &str) -> Option<usize> {
    let slash = method.find('/')?;
    let next = &method[slash + 1..];
    let is_lambda = method[..slash].contains("$$Lambda");
    (!is_lambda).then(|| slash + 1 + usize::from(next.starts_with('/')))
}

impl fmt::Display for Frame {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(to, "{}:{line}", self.method),
            None => to.write_str(&self.method),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_file_and_line_are_told_apart() {
        let frame = Frame::parse("java.base/java.util.concurrent.Semaphore.acquire(Semaphore.java:318)");
        assert_eq!(frame.to_string(), "java.util.concurrent.Semaphore.acquire:318");
        assert!(!frame.is_application() && frame.is("Semaphore.acquire") && !frame.is("aphore.acquire"));
        let own = Frame::parse("app//shop.Orders.find(Orders.java:42)");
        assert!(own.is_application() && own.line == Some(42) && own.method == "shop.Orders.find");
        assert_eq!(Frame::parse("Hung.lambda$start$0(Unknown Source)").to_string(), "Hung.lambda$start$0");
    }

    /// Otherwise the probe and the diagnosis name different lines of one stack.
    #[test]
    fn the_libraries_are_those_of_the_probe() {
        const CODE: &str = "../jvm/probe/src/main/java/dev/threadcount/probe/stacks/Code.java";
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(CODE);
        let code = std::fs::read_to_string(file).unwrap();
        let arrays =
            code.split("private static final String[]").skip(1).map(|it| it.split(';').next().unwrap());
        let names = arrays.flat_map(|array| array.split('"').skip(1).step_by(2));
        assert_eq!([&LIBRARIES[..], &SAMPLES].concat(), names.collect::<Vec<_>>());
    }

    #[test]
    fn a_client_of_kafka_is_a_library_and_an_application_of_a_similar_name_is_none() {
        let is_application =
            |method: &str| Frame::parse(&format!("app//{method}(X.java:1)")).is_application();
        assert!(!is_application("org.apache.kafka.clients.NetworkClient.poll"));
        assert!(!is_application("com.mongodb.internal.connection.DefaultConnectionPool.get"));
        assert!(!is_application("okhttp3.internal.http.RealInterceptorChain.proceed"));
        assert!(
            is_application("org.apache.kafkaesque.Castle.enter")
                && is_application("com.zaxxer.shop.Cart.add")
        );
    }
}
