//! Each variant with its JVM and the thread that handled the requests.

use super::Table;
use crate::html::method::ran;
use crate::sentences::distinct;
use threadcount_judge::result::ResultDocument;
use threadcount_model::figures;
use threadcount_model::record::{Record, ServerFacts};

#[must_use]
pub fn variants(document: &ResultDocument) -> Table {
    let rows = ran(document).map(|name| {
        let mine = |record: &&Record| record.variant == *name;
        let servers: Vec<&ServerFacts> =
            document.records.iter().filter(mine).map(|record| &record.server).collect();
        let each = |read: fn(&ServerFacts) -> Option<String>| {
            let texts = distinct(servers.iter().filter_map(|server| read(server)));
            if texts.is_empty() { "–".to_owned() } else { texts.join("; ") }
        };
        vec![
            name.clone(),
            each(|server| server.product.clone()),
            each(|server| server.java.clone()),
            each(|server| server.request_thread.as_ref().map(|thread| thread.kind().words().to_owned())),
            each(|server| server.request_thread.as_ref().map(|thread| without_digits(&thread.name))),
            each(|server| server.pool_max_threads.map(|most| figures::count(most.into()))),
        ]
    });
    let columns = ["variant", "server", "Java", "request thread", "its name", "request threads at most"];
    let caption = "The variants that ran, and the thread that handled a request, as reported by the server.";
    Table::new(caption, &columns, 5, rows.collect())
}

/// A thread's name without its ports and counters, which differ from run to run.
fn without_digits(name: &str) -> String {
    let part = |part: &str| match part.chars().all(|c| c.is_ascii_digit()) && !part.is_empty() {
        true => "…".to_owned(),
        false => part.to_owned(),
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::without_digits;

    #[test]
    fn the_names_of_threads_of_several_runs_are_the_same() {
        assert_eq!(without_digits("http-nio-127.0.0.1-45175-exec-12"), "http-nio-127.0.0.1-…-exec-…");
        assert_eq!(without_digits("virtual-1"), "virtual-…");
    }
}
