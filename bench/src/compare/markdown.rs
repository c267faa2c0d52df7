//! The comparison as a page to read.

mod foot;
mod protocols;
mod threads;

use crate::compare::goals::goals;
use crate::compare::part::Part;
use crate::compare::result::{Comparison, MachineLateness, Row, cost_ratio, is_true, row, with};
use crate::compare::sizes::{CLOSED, TRUTH_RATE};
use crate::protocol::Protocol;
use crate::tool::threadcount::Threadcount;
use crate::tool::{Quantiles, bare};
use threadcount_load::report;

/// From this many busy cores before the first run on, the machine is not quiet.
const QUIET: f64 = 0.1;

/// The whole page.
#[must_use]
pub fn page(of: &Comparison) -> String {
    let sections = [
        head(of),
        goal_table(of),
        measured(of, Part::Closed, cost_tables(of)),
        measured(of, Part::Open, unless_empty(&of.open, open_table(of))),
        measured(of, Part::Truth, unless_empty(&of.truth, truth_table(of))),
        measured(of, Part::Memory, unless_empty(&of.memory, memory_table(of))),
        measured(of, Part::Tls, protocols::tables(&of.tls, of, "HTTP/1.1 over TLS", &[Protocol::Http1Tls])),
        measured(of, Part::H2, protocols::tables(&of.h2, of, "HTTP/2", &[Protocol::H2c, Protocol::H2Tls])),
        measured(of, Part::Threads, threads::table_of(of)),
        foot::text(of),
    ];
    let mut page = sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n");
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// What was not measured has no section.
fn unless_empty(rows: &[Row], section: String) -> String {
    if rows.is_empty() { String::new() } else { section }
}

/// A part's section, with date and command of its measurement where they differ from those of the page.
fn measured(of: &Comparison, part: Part, section: String) -> String {
    let Some(measured) = of.measured.get(&part.name()) else { return section };
    if section.is_empty() || (&measured.command, &measured.date) == (&of.command, &of.date) {
        return section;
    }
    let quick = if measured.quick { " **Quick sizes: not to quote.**" } else { "" };
    format!("{section}\nMeasured separately, {}: `{}`.{quick}\n", measured.date, measured.command)
}

fn head(of: &Comparison) -> String {
    let machine = &of.machine;
    let quick = if of.quick { "\n**Quick sizes: a functional check, not to quote.**\n" } else { "" };
    let busy = if machine.busy_before.is_some_and(|cores| cores > QUIET) {
        "\n**Other processes used the machine before the first run: measure again on a quiet one.**\n"
    } else {
        ""
    };
    format!(
        "# Threadcount's load generator against others\n\n\
         Written by `threadcount-bench compare` from `benchmarks.json`; do not edit it by hand.\n{quick}{busy}\n\
         - {}, {} min: `{}`\n\
         - {}, {} cores, {:.0} GiB, Linux {}, {}\n\
         - the server is pinned to core {}, each client to core {}; the clients alternate over the rounds (A B C, C B A, ..)\n\
         - CPU per request is user and system time of the client process (wait4), including its start, divided by the responses \
         that the *server* counted\n\
         - figures are medians over the rounds, and shares medians of the ratios within them\n\
         - an interval holds the median with at least 95 % (order statistics)\n",
        of.date,
        (of.took_s / 60.0).round(),
        of.command,
        machine.processor,
        machine.cores,
        machine.memory_gib,
        machine.kernel,
        machine.busy_before.map_or_else(
            || "CPU before the first run not measured".to_owned(),
            |cores| format!("{cores:.2} cores busy before the first run")
        ),
        of.server_core,
        of.client_core,
    )
}

fn goal_table(of: &Comparison) -> String {
    let rows = goals(of).into_iter().map(|goal| {
        let holds = match goal.holds {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "not measured",
        };
        let said = |figure: Option<String>| figure.unwrap_or_else(|| "–".to_owned());
        vec![goal.what, goal.limit, said(goal.measured), holds.to_owned(), said(goal.floor)]
    });
    format!(
        "## Goals\n\n{}\n\
         The floor is the same figure of the bare loop, which neither parses nor records. For the truth server it is the timing of the server \
         and the machine. A limit below the floor cannot be reached on this machine. A row is no later than h2load if its real \
         lateness (p99) is up to 5 % more.\n",
        table(&["goal", "limit", "measured", "reached", "floor"], rows)
    )
}

/// Of the cells that [`cost_cells_beside`] makes.
const COST_COLUMNS: [&str; 5] =
    ["tool", "CPU µs per request", "lowest .. highest", "ours / it", "responses/s"];

/// One table for each number of connections and length of the responses; empty where none was measured.
fn cost_tables(of: &Comparison) -> String {
    let tables = CLOSED.into_iter().filter_map(|(connections, body)| {
        let rows = with(&of.cost, connections, 1, body);
        if rows.is_empty() {
            return None;
        }
        let note = if (connections, body) == CLOSED[0] {
            format!(
                "\n`ours / it` is the CPU per request of {} divided by that of the tool in the row.\n",
                Threadcount::IO_URING
            )
        } else {
            String::new()
        };
        Some(format!(
            "## Cost per request: closed loop, {} connections, {}-byte responses\n\n{}{note}",
            thousands(Some(f64::from(connections))),
            thousands(Some(body as f64)),
            table(&COST_COLUMNS, rows.iter().map(|row| cost_cells(&rows, row)))
        ))
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn cost_cells(rows: &[Row], row: &Row) -> Vec<String> {
    cost_cells_beside(rows, Threadcount::IO_URING, row)
}

fn cost_cells_beside(rows: &[Row], ours: &str, row: &Row) -> Vec<String> {
    let range =
        row.cpu_range_us().map_or_else(|| "–".to_owned(), |(low, high)| format!("{low:.2} .. {high:.2}"));
    vec![
        name(row),
        figure(row.cpu_us(), 2),
        range,
        figure(cost_ratio(rows, ours, &row.tool).map(|ratio| ratio.median), 2),
        thousands(row.rate_per_s()),
    ]
}

fn open_table(of: &Comparison) -> String {
    let lateness = [
        "real lateness p50 ms",
        "real lateness p99 ms",
        "send lag p99 ms (reported)",
        "response time p99 ms (reported)",
    ];
    let columns = [COST_COLUMNS.as_slice(), &lateness].concat();
    let cells = |row: &Row| {
        let mut cells = cost_cells(&of.open, row);
        cells.push(figure(row.lateness(|times| times.p50), 2));
        cells.push(figure(row.lateness(|times| times.p99), 2));
        cells.push(figure(row.claimed(|claim| claim.send_lag_p99_ms), 3));
        cells.push(figure(row.claimed(|claim| claim.times.p99), 2));
        cells
    };
    format!(
        "## Open loop at 5,000 requests/s\n\n{}\n\
         Real lateness is measured at the server, by its clock, against an even schedule of 5,000/s. That schedule begins as late as \
         possible without any early request. A generator that sends in groups is late by up to the time that a group covers. \
         The tool h2load checks the schedules of all connections together, at most every 10 ms. Send \
         lag is the generator's own figure; only threadcount has it. The bare sleeping loop wakes once per request, \
         when it is due. With 1 ms or 10 ms it wakes for all requests due within that time. It never wakes for a response, so it does \
         not know when responses arrive. Threadcount wakes as often, because the kernel stamps the responses.\n",
        table(&columns, of.open.iter().map(cells))
    )
}

fn truth_cells(of: &Comparison, name: String, times: &Quantiles, rate_per_s: Option<f64>) -> Vec<String> {
    let mut cells = vec![name];
    cells.extend(times.named().into_iter().zip(of.analytic.named()).map(|((_, said), (_, truth))| {
        match (said, truth) {
            (Some(said), Some(truth)) if !is_true(said, truth) => format!("**{said:.1}**"),
            (Some(said), _) => format!("{said:.1}"),
            (None, _) => "–".to_owned(),
        }
    }));
    cells.push(thousands(rate_per_s));
    cells
}

/// The truth, the server itself, and the report of each tool but the floor.
fn truth_rows(of: &Comparison, rows: &[Row], ours: &str, rate: u32) -> Vec<Vec<String>> {
    let cells = |name, times: &_, rate_per_s| truth_cells(of, name, times, rate_per_s);
    let said = rows.iter().filter(|row| row.tool != bare::SLEEPING).map(|row| {
        let times =
            row.runs.first().and_then(|run| run.claim.as_ref()).map(|claim| claim.times).unwrap_or_default();
        let closed = if row.closed { " (closed loop)" } else { "" };
        cells(format!("{}{closed}", name(row)), &times, row.rate_per_s())
    });
    let truth = cells("*the truth*".to_owned(), &of.analytic, Some(f64::from(rate)));
    let held = row(rows, ours).and_then(|row| {
        let who = format!("*the server itself, under the load of {}*", row.tool);
        Some(cells(who, &row.runs.first()?.held_ms?, row.rate_per_s()))
    });
    std::iter::once(truth).chain(held).chain(said).collect()
}

const TRUTH_COLUMNS: [&str; 8] = ["tool", "p50", "p90", "p95", "p99", "p99.9", "max", "responses/s"];

fn truth_table(of: &Comparison) -> String {
    format!(
        "## Response times reported for a server that stalls 200 ms in every 2 s, at 2,000 requests/s\n\n{}\n\
         Times are in milliseconds. **Bold** is off by more than 2 % and more than 1 ms. A tool does not print figures marked –. A closed loop has no \
         rate: its response times leave out the queueing of requests that it did not send during the stall. The true p90 lies \
         exactly where the queueing begins: each 0.05 % of the requests that the machine itself delays moves it by 1 ms. \
         The server itself: from reading a request to writing its response. Servers and open loads have real-time priority \
         on their cores (SCHED_FIFO, where allowed).{}\n",
        table(&TRUTH_COLUMNS, truth_rows(of, &of.truth, Threadcount::IO_URING, TRUTH_RATE)),
        machine_lateness(of)
    )
}

/// Lateness caused by the machine.
fn machine_lateness(of: &Comparison) -> String {
    let Some(MachineLateness { requests, late, p90_ms }) = of.machine_lateness() else {
        return String::new();
    };
    format!(
        " The bare sleeping loop only sends the same {} requests when they are due. It sent {late} of them more \
         than 1 ms late. This delay by the machine alone puts p90 at {p90_ms:.1} ms.",
        thousands(Some(requests as f64))
    )
}

fn memory_cells(row: &Row) -> Vec<String> {
    vec![
        name(row),
        thousands(Some(f64::from(row.connections))),
        thousands(row.connections_seen()),
        figure(row.peak_rss_mib(), 1),
        thousands(row.failed()),
        thousands(row.rate_per_s()),
        figure(row.rate_per_s().map(|rate| rate * 0.3 / f64::from(row.connections)), 2),
    ]
}

const MEMORY_COLUMNS: [&str; 7] = [
    "tool",
    "connections",
    "open at once",
    "peak memory MiB",
    "reported failures",
    "responses/s",
    "share of possible",
];

fn memory_table(of: &Comparison) -> String {
    format!(
        "## Memory: closed loop against a server that takes 300 ms\n\n{}\n\
         Open at once is the highest number of connections at the server. Peak memory is the peak resident set of the client. The rate is \
         measured at the server, and the possible rate is connections / 0.3 s.\n",
        table(&MEMORY_COLUMNS, of.memory.iter().map(memory_cells))
    )
}

/// The tool's name, marked when something went wrong.
fn name(row: &Row) -> String {
    let mark = if row.trouble().is_some() { " (!)" } else { "" };
    format!("{}{mark}", row.tool)
}

fn figure(figure: Option<f64>, digits: usize) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| format!("{figure:.digits$}"))
}

fn thousands(figure: Option<f64>) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| report::thousands(&format!("{figure:.0}")))
}

fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    let mut text = line(&head);
    text += &format!("|---|{}\n", "---:|".repeat(columns.len() - 1));
    for row in rows {
        text += &line(&row);
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::compare::machine::Machine;
    use crate::compare::result::tests::costing;
    use crate::compare::result::{Circumstances, Run, SCHEMA};
    use crate::tool::Claim;

    /// What a tool reported about the truth server.
    pub fn saying(tool: &str, p95: f64) -> Row {
        let times = Quantiles {
            p50: Some(0.1),
            p90: Some(0.2),
            p95: Some(p95),
            p99: Some(180.1),
            p99_9: Some(198.0),
            max: Some(200.2),
        };
        let run =
            Run { claim: Some(Claim { times, ..Claim::default() }), rate_per_s: 2_000.0, ..Run::default() };
        Row { runs: vec![run], closed: false, ..costing(tool, &[]) }
    }

    /// The server was late for one in a hundred.
    fn held(mut row: Row) -> Row {
        let times = row.runs[0].claim.as_ref().map(|claim| claim.times);
        row.runs[0].held_ms = times.map(|times| Quantiles { p99: Some(184.2), ..times });
        row
    }

    /// The bare loop sent so many of 40,000 requests late.
    fn late(requests: u64) -> Row {
        let claim = Claim { late: Some(requests), ..Claim::default() };
        let run = Run { answers: 40_000, claim: Some(claim), ..Run::default() };
        Row { runs: vec![run], closed: false, ..costing(bare::SLEEPING, &[]) }
    }

    /// A small comparison with known answers.
    pub fn comparison() -> Comparison {
        let (ours, epoll) = (Threadcount::IO_URING, Threadcount::EPOLL);
        let claim = Claim { failed: Some(0), ..Claim::default() };
        let run = Run {
            connections: 15_000,
            rate_per_s: 49_000.0,
            peak_rss_mib: 70.0,
            claim: Some(claim),
            ..Run::default()
        };
        Comparison {
            schema: SCHEMA.to_owned(),
            date: "2026-11-20".to_owned(),
            command: "threadcount-bench compare".to_owned(),
            quick: false,
            machine: Machine {
                processor: "Fast 9000".to_owned(),
                cores: 2,
                memory_gib: 24.0,
                ..Machine::default()
            },
            server_core: 0,
            client_core: 1,
            tools: ["wrk", bare::SLEEPING].map(|tool| (tool.to_owned(), format!("{tool} 4.1.0"))).to_vec(),
            missing: vec![("k6".to_owned(), "no network".to_owned())],
            cost: vec![
                costing(ours, &[3.7, 3.6, 9.9]),
                costing("wrk", &[5.0, 5.1, 4.9]),
                costing(bare::NAME, &[3.5, 3.5, 3.6]),
            ],
            open: vec![costing(ours, &[5.0]), costing(bare::SLEEPING, &[4.0])],
            analytic: Quantiles {
                p50: Some(0.0),
                p90: Some(0.0),
                p95: Some(100.0),
                p99: Some(180.0),
                p99_9: Some(198.0),
                max: Some(200.0),
            },
            truth: vec![held(saying(ours, 100.4)), saying(epoll, 104.9), late(46)],
            memory: vec![Row { connections: 15_000, runs: vec![run], ..costing(ours, &[]) }],
            took_s: 780.0,
            ..Comparison::default()
        }
    }

    #[test]
    fn costs_stand_beside_their_ratio_to_ours() {
        let page = page(&comparison());
        assert!(page.contains("| threadcount (io_uring) | 3.70 | 3.60 .. 9.90 | 1.00 | 270,270 |"), "{page}");
        assert!(page.contains("| wrk | 5.00 | 4.90 .. 5.10 | 0.74 | 200,000 |"), "{page}");
    }

    #[test]
    fn an_untrue_figure_is_bold_and_the_truth_stands_first() {
        let page = page(&comparison());
        assert!(
            page.contains("| *the truth* | 0.0 | 0.0 | 100.0 | 180.0 | 198.0 | 200.0 | 2,000 |"),
            "{page}"
        );
        assert!(
            page.contains(
                "| *the server itself, under the load of threadcount (io_uring)* | 0.1 | 0.2 | 100.4 | **184.2** |"
            ),
            "{page}"
        );
        assert!(page.contains("| threadcount (epoll) | 0.1 | 0.2 | **104.9** | 180.1 |"), "{page}");
        assert!(page.contains("| threadcount (io_uring) | 0.1 | 0.2 | 100.4 |"), "{page}");
    }

    #[test]
    fn the_lateness_of_the_machine_is_reported_with_its_effect_on_p90() {
        let page = page(&comparison());
        let told = "the same 40,000 requests when they are due. It sent 46 of them more than 1 ms late. This delay by the \
                    machine alone puts p90 at 2.3 ms.";
        assert!(page.contains(told), "{page}");
        assert!(!page.contains("| bare sleeping loop | –"), "{page}");
    }

    #[test]
    fn the_page_says_when_where_how_and_who_is_missing() {
        let page = page(&comparison());
        for text in [
            "2026-11-20, 13 min",
            "Fast 9000, 2 cores",
            "- wrk: wrk 4.1.0\n  `wrk http:",
            "k6 is not installed: no network",
        ] {
            assert!(page.contains(text), "{text} in {page}");
        }
        let only_in_the_open_table = format!("- {0}: {0} 4.1.0\n  `{0} http:", bare::SLEEPING);
        assert!(page.contains(&only_in_the_open_table), "{page}");
    }

    #[test]
    fn a_busy_machine_and_quick_sizes_are_warned_of() {
        let mut busy = comparison();
        assert!(!page(&busy).contains("**The machine") && !page(&busy).contains("**Quick"));
        busy.machine.busy_before = Some(0.3);
        busy.quick = true;
        assert!(
            page(&busy).contains("**Other processes used the machine")
                && page(&busy).contains("**Quick sizes")
        );
    }

    #[test]
    fn every_row_of_a_table_has_as_many_cells_as_its_head() {
        let page = page(&comparison());
        let mut width = None;
        for line in page.lines() {
            let cells = line.starts_with('|').then(|| line.matches('|').count());
            assert!(width.is_none() || cells.is_none() || width == cells, "{line}");
            width = cells;
        }
    }

    #[test]
    fn a_comparison_reads_back_from_its_json() {
        let json = serde_json::to_string(&comparison()).unwrap();
        assert_eq!(serde_json::from_str::<Comparison>(&json).unwrap(), comparison());
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(thousands(Some(1_234_567.4)), "1,234,567");
        assert_eq!(thousands(Some(999.0)), "999");
        assert_eq!(thousands(None), "–");
    }

    #[test]
    fn a_part_that_was_measured_another_day_says_so_and_the_others_do_not() {
        let mut of = comparison();
        let measured = |date: &str, command: &str| Circumstances {
            date: date.to_owned(),
            command: command.to_owned(),
            ..Circumstances::default()
        };
        of.measured.insert(Part::Open.name(), measured("2026-11-19", "compare --rows open"));
        of.measured.insert(Part::Closed.name(), measured(&of.date, &of.command));
        let page = page(&of);
        assert!(page.contains("Measured separately, 2026-11-19: `compare --rows open`."), "{page}");
        assert_eq!(page.matches("Measured separately").count(), 1);
    }
}
