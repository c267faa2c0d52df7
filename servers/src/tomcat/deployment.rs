//! Detects that Tomcat could not start its web application; Tomcat then responds to every path with 404.

use std::path::Path;
use threadcount_machine::read_limit::ReadLimit;

/// The logger under which Tomcat writes why a web application did not start, and nothing else unless debugging
/// (StandardContext.java).
const NOT_STARTED: &str = "org.apache.catalina.core.StandardContext.startInternal";
/// The prefix of everything that Tomcat logs about a web application.
const CONTEXT: &str = "org.apache.catalina.core.StandardContext";
const CAUSED_BY: &str = "Caused by: ";

/// The reason, from the server's log, why the application did not start; `None` if it did or the log cannot be read.
pub fn failure(log: &Path) -> Option<String> {
    failure_in(&ReadLimit::PROGRAM_OUTPUT.read_file(log).ok()?)
}

fn failure_in(log: &str) -> Option<String> {
    log.lines().find(|line| line.contains(NOT_STARTED))?;
    let Some(cause) = cause(log) else { return Some("The log has the reason".to_owned()) };
    // Tomcat 10 and newer do not contain the Java EE classes.
    let is_java_ee = ["javax/servlet", "javax.servlet"].iter().any(|it| cause.contains(it));
    let advice = "It is made for Java EE (javax.servlet), and this Tomcat runs Jakarta EE; Apache's jakartaee-migration tool \
        converts it";
    Some(if is_java_ee { advice } else { cause }.to_owned())
}

/// The innermost exception of the first trace, whose lines are indented.
fn cause(log: &str) -> Option<&str> {
    let after = log.lines().skip_while(|line| !line.contains(CONTEXT)).skip(1);
    let trace: Vec<&str> = after.take_while(|line| line.starts_with('\t')).map(str::trim).collect();
    let innermost = trace.iter().rev().find_map(|line| line.strip_prefix(CAUSED_BY));
    innermost.or_else(|| trace.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(cause: &str) -> String {
        format!(
            "28-Nov-2026 12:13:40.176 SEVERE [main] org.apache.catalina.core.StandardContext.listenerStart Error configuring \
             application listener of class [shop.Listener]\n\t{cause}\n\t\tat shop.Listener.load(Listener.java:7)\n\
             28-Nov-2026 12:13:40.183 SEVERE [main] org.apache.catalina.core.StandardContext.startInternal Context [] startup \
             failed due to previous errors\n"
        )
    }

    #[test]
    fn a_web_application_that_did_not_start_has_its_cause() {
        let found = |cause: &str| failure_in(&log(cause)).expect("a cause");
        assert_eq!(
            found("java.lang.IllegalStateException: no database"),
            "java.lang.IllegalStateException: no database"
        );
        assert!(found("java.lang.NoClassDefFoundError: javax/servlet/Filter").contains("Java EE"));
        assert_eq!(found("shop.Broken: no key\n\tCaused by: shop.NoFile: /etc/key"), "shop.NoFile: /etc/key");
        let elsewhere = format!("WARNING no javax.servlet here\n{}", log("shop.Broken: no key"));
        assert_eq!(failure_in(&elsewhere).as_deref(), Some("shop.Broken: no key"));
        let without_trace = failure_in(&format!("SEVERE {NOT_STARTED} Context [] startup failed"));
        assert_eq!(without_trace.as_deref(), Some("The log has the reason"));
    }

    #[test]
    fn one_that_started_has_none_whatever_it_logged() {
        let started = log("java.lang.IllegalStateException: no cache")
            .replace("StandardContext.startInternal", "Other.start");
        assert_eq!(failure_in(&started), None);
        assert_eq!(failure(Path::new("/nowhere/server.log")), None);
    }
}
