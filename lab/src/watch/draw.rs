//! Draws a [`Screen`]: sections of lines, cut to the terminal.

use super::history::History;
use super::screen::Screen;
use super::sites::Sites;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use threadcount_machine::probe::line::Pool;
use threadcount_model::figures::{bytes, count, milliseconds as time};
use threadcount_model::printable::printable;
use threadcount_report::layout;
use threadcount_report::live;
use threadcount_report::live::LimitWords;
use threadcount_report::sentences::capital;

/// Columns of a spark line.
const SPARK: usize = 20;

const LABEL: usize = 15;

const HELD: &str =
    "Every carrier is held by a virtual thread that waits, while others want to run: see `pinned`";

/// The number of sites shown of each kind.
const SITES: usize = 4;

pub fn draw(screen: &Screen, frame: &mut Frame<'_>) {
    let [body, foot] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(frame.area());
    frame.render_widget(Paragraph::new(lines(screen, usize::from(body.width))), body);
    frame.render_widget(Paragraph::new(foot_line(screen)).dim(), foot);
}

/// The lines of the screen. They contain names chosen by others, so control characters are replaced.
fn lines(screen: &Screen, width: usize) -> Vec<Line<'static>> {
    let mut lines = raw_lines(screen, width);
    for span in lines.iter_mut().flat_map(|line| &mut line.spans) {
        span.content = printable(&span.content).into_owned().into();
    }
    lines
}

fn raw_lines(screen: &Screen, width: usize) -> Vec<Line<'static>> {
    let model = Line::from(capital(&screen.thread_model()));
    let held = if screen.carriers_held() { HELD } else { "" };
    let mut lines = vec![title(screen), model, Line::from(held).red().bold()];
    lines.extend(limits(screen, width));
    lines.extend(carriers(screen));
    lines.extend(
        screen
            .canary
            .now()
            .map(|delays| labelled("delay", &[live::delays(&delays)], width))
            .unwrap_or_default(),
    );
    lines.extend(screen.pools.values().map(pool));
    lines.push(Line::default());
    lines.extend(resources(screen));
    lines.push(Line::default());
    lines.extend(work(screen));
    lines.extend(sites(
        "pinned",
        "times a virtual thread waited and could not leave its carrier",
        &screen.pins,
    ));
    lines
}

/// The current limits, and what to try.
fn limits(screen: &Screen, width: usize) -> Vec<Line<'static>> {
    let rows = |limit: LimitWords| [Some(limit.sentence), limit.advice];
    let texts: Vec<String> = screen.limits.words().into_iter().flat_map(rows).flatten().collect();
    let mut lines = labelled("limit", &texts, width);
    if screen.dropped_lines > 0 {
        lines.push(Line::from(live::dropped(screen.dropped_lines)).yellow());
    }
    let problems: Vec<String> =
        screen.problems.all().iter().map(|it| live::problem(&it.what, &it.why)).collect();
    lines.extend(labelled("problem", &problems, width));
    lines
}

/// Texts beside a label; a long text takes several lines.
fn labelled(label: &str, texts: &[String], width: usize) -> Vec<Line<'static>> {
    let line = |line: String| {
        let (label, text) = line.split_at(LABEL + 1);
        Line::from(vec![label.to_owned().dim(), text.to_owned().into()])
    };
    layout::labelled(label, LABEL + 1, texts, width).into_iter().map(line).collect()
}

fn title(screen: &Screen) -> Line<'static> {
    let Screen { pid, java, processors, .. } = screen;
    let (minutes, seconds) = (screen.seconds() / 60, screen.seconds() % 60);
    let rest = format!(" · Java {java} · {processors} cores · {minutes}:{seconds:02}");
    Line::from(vec![format!("process {pid}").bold(), rest.into()])
}

fn foot_line(screen: &Screen) -> Line<'static> {
    Line::from(if screen.ended {
        "the JVM has ended; q leaves"
    } else {
        "q leaves, and the probe leaves the JVM"
    })
}

fn row(label: &str, spark: &str, figures: String) -> Line<'static> {
    let label: String = label.chars().take(LABEL).collect();
    Line::from(vec![
        format!("{label:<LABEL$} ").dim(),
        Span::styled(format!("{spark:<SPARK$}  "), Style::new().fg(Color::Cyan)),
        figures.into(),
    ])
}

fn carriers(screen: &Screen) -> Option<Line<'static>> {
    let it = screen.carriers.as_ref()?;
    let running = if it.running < 0 { "?".to_owned() } else { it.running.to_string() };
    let figures = format!(
        "{} of {} mounted, {running} running, {} virtual threads queued",
        it.mounted,
        it.parallelism,
        count(it.queued)
    );
    Some(row("carriers", &screen.mounted.spark(SPARK, f64::from(it.parallelism)), figures))
}

fn pool(pool: &Pool) -> Line<'static> {
    let unknown = |value: i64| if value < 0 { "?".to_owned() } else { value.to_string() };
    if pool.busy < 0 && pool.max < 0 {
        return row(pool.kind.name(), &pool.name, "does not tell how busy it is".to_owned());
    }
    let queued = if pool.queued > 0 { format!(", {} wait", pool.queued) } else { String::new() };
    let line = row(
        pool.kind.name(),
        &pool.name,
        format!("{} of {} busy{queued}", unknown(pool.busy), unknown(pool.max)),
    );
    if pool.max > 0 && pool.busy >= pool.max { line.yellow() } else { line }
}

fn resources(screen: &Screen) -> Vec<Line<'static>> {
    let Some(sample) = &screen.sample else { return Vec::new() };
    let spark = |history: &History, full: f64| history.spark(SPARK, full);
    let last = |history: &History| history.last().unwrap_or_default();
    let committed = sample.heap_committed_bytes;
    vec![
        row(
            "CPU",
            &spark(&screen.cpu, f64::from(screen.processors)),
            format!("{:.2} of {} cores", last(&screen.cpu), screen.processors),
        ),
        row(
            "heap",
            &spark(&screen.heap, committed as f64),
            format!("{} used of {} committed", bytes(sample.heap_used_bytes), bytes(committed)),
        ),
        row(
            "allocation",
            &spark(&screen.allocation, 1.0),
            format!("{}/s", bytes(last(&screen.allocation) as u64)),
        ),
        row("pauses", "", pauses(screen)),
        row("RSS", &spark(&screen.rss, 1.0), bytes(last(&screen.rss) as u64)),
        row("threads", "", format!("{} of the OS, {} of Java", sample.os_threads, sample.platform_threads)),
    ]
}

fn pauses(screen: &Screen) -> String {
    let total = screen.pauses;
    let Some((_, ms, name)) = &screen.last_pause else { return "no collection so far".to_owned() };
    let all = format!(
        "{}, {} in all, longest {}",
        count(total.count),
        time(total.total_ms),
        time(total.longest_ms)
    );
    format!("{all}; last {} ({name})", time(*ms))
}

fn work(screen: &Screen) -> Vec<Line<'static>> {
    let (head, doing) = screen.work.now();
    let mut lines = vec![Line::from(vec![format!("{:<LABEL$} ", "requests").dim(), head.into()])];
    for it in doing.into_iter().take(SITES) {
        let holder = it.holder.map(|holder| format!("  held at {holder}")).unwrap_or_default();
        lines.push(Line::from(vec![
            format!("  {:>9.1}  {}  ", it.threads, it.what).into(),
            it.place.bold(),
            holder.dim(),
        ]));
    }
    lines
}

fn sites(label: &str, noun: &str, sites: &Sites) -> Vec<Line<'static>> {
    let number = sites.count();
    let head = if number == 0 { "none so far".to_owned() } else { format!("{} {noun}", count(number)) };
    let mut lines = vec![Line::from(vec![format!("{label:<LABEL$} ").dim(), head.into()])];
    for (site, total) in sites.top(SITES) {
        let why = site.why.as_ref().map(|why| format!("  {why}")).unwrap_or_default();
        lines.push(Line::from(vec![
            format!("  {:>9}  {:>8}  ", format!("{}x", count(total.count)), time(total.total_ms)).into(),
            site.place.clone().bold(),
            why.dim(),
        ]));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::limits::CurrentLimits;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use threadcount_judge::finding::{Fact, Finding};
    use threadcount_judge::limit::station::{ConnectionPool, KnownBy, Resource, Servers, Station};
    use threadcount_machine::probe::line::parse;
    use threadcount_model::record::jvm::PoolKind;

    fn drawn(width: u16, height: u16, screen: &Screen) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(screen, frame)).unwrap();
        terminal.backend().to_string()
    }

    /// A Tomcat on Java 21 whose two carriers are pinned.
    const PINNED: &str = r#"{"type":"hello","t_ns":1000000000,"pid":7,"java":"21.0.8+9","vendor":"x","level":"light","processors":2}
{"type":"sample","t_ns":2000000000,"heap_used_bytes":90000000,"heap_committed_bytes":120000000,"allocated_bytes":0,"process_cpu_ns":0,"rss_bytes":250000000,"os_threads":41,"platform_threads":24}
{"type":"sample","t_ns":3000000000,"heap_used_bytes":95000000,"heap_committed_bytes":120000000,"allocated_bytes":5000000,"process_cpu_ns":120000000,"rss_bytes":251000000,"os_threads":41,"platform_threads":24}
{"type":"carriers","t_ns":2000000000,"parallelism":2,"threads":2,"mounted":2,"queued":198,"running":0,"source":"ForkJoinPool"}
{"type":"carriers","t_ns":2500000000,"parallelism":2,"threads":2,"mounted":2,"queued":198,"running":0,"source":"ForkJoinPool"}
{"type":"carriers","t_ns":3000000000,"parallelism":2,"threads":2,"mounted":2,"queued":198,"running":0,"source":"ForkJoinPool"}
{"type":"run_delay","t_ns":3000000000,"virtual":false,"count":9,"longest_ns":4000000,"waiting_ns":0,"period_ns":10000000,"at_most_us":"40:99 4096:1"}
{"type":"run_delay","t_ns":3000000000,"virtual":true,"count":9,"longest_ns":900000000,"waiting_ns":0,"period_ns":10000000,"at_most_us":"917504:99"}
{"type":"pool","t_ns":3000000000,"kind":"tomcat","name":"http-nio-8080","busy":-1,"max":-1,"size":-1,"queued":-1}
{"type":"pool","t_ns":3000000000,"kind":"hikari","name":"Pool (shop)","busy":10,"max":10,"size":10,"queued":31}
{"type":"stacks","t_ns":3000000000,"sample":0,"platform_threads":0,"virtual_threads":200,"platform_drawn":0,"virtual_drawn":20,"platform_gone":0,"virtual_gone":0,"families":false,"cpu_ns":1}
{"type":"stack_group","t_ns":3000000000,"sample":0,"virtual":true,"role":"request","state":"pool","resource":"HikariCP","application":"shop.Orders.find:42","library":"com.zaxxer.hikari.pool.HikariPool.getConnection:1","holder":null,"peer":null,"count":3}
{"type":"stack_group","t_ns":3000000000,"sample":0,"virtual":true,"role":"request","state":"lock","resource":"java.util.concurrent.locks.ReentrantLock","application":"shop.Orders.add:12","library":null,"holder":"shop.Orders.save:88","peer":null,"count":1}
{"type":"gc_pause","t_ns":2500000000,"duration_ns":4200000,"name":"GC Pause"}
{"type":"pinned","t_ns":2000000000,"count":40,"total_ns":2000000000,"longest_ns":51000000,"holder":"dev.threadcount.servlets.Synchronized.lambda$doGet$0:22","application":"dev.threadcount.servlets.Sleep.blockThisThread:36","top":"java.lang.VirtualThread.parkOnCarrierThread","reason":null}"#;

    fn pinned() -> Screen {
        let (lines, skipped) = parse(PINNED);
        assert_eq!(skipped, 0);
        let mut screen = Screen::new(7);
        lines.into_iter().for_each(|line| screen.read(line));
        screen
    }

    #[test]
    fn everything_known_stands_in_one_screen() {
        let pool =
            ConnectionPool { library: PoolKind::Hikari, name: "Pool (shop)".to_owned(), waiting: 31.0 };
        let fact = Fact::Waiting(Station {
            resource: Resource::ConnectionPool(pool),
            servers: Some(Servers { count: 10.0, known_by: KnownBy::Gauge }),
            full_share: Some(1.0),
            ..Station::default()
        });
        let finding = Finding { variant: None, load: None, runs: None, fact };
        let limits = CurrentLimits::Judged { window_s: 10.0, findings: vec![finding], old_requests: 0 };
        let mut screen = pinned();
        (screen.limits, screen.dropped_lines) = (limits, 12);
        screen.problems.add("shop:type=Pool".to_owned(), "IllegalStateException: closed".to_owned());
        insta::assert_snapshot!(drawn(110, 30, &screen));
    }

    #[test]
    fn a_small_terminal_cuts_and_does_not_break() {
        let small = drawn(30, 5, &pinned());
        assert!(small.contains("process 7") && small.contains("q leaves"), "{small}");
        drawn(1, 1, &pinned());
    }

    #[test]
    fn a_jvm_that_has_said_nothing_yet_is_drawn_too() {
        let empty = drawn(80, 24, &Screen::new(7));
        assert!(empty.contains("none so far"), "{empty}");
    }
}
