//! The time of a request as a flame graph: by kind of time, then by what the thread waits for, then by the code that waits.

use crate::request_time::{PartKind, kind};
use serde::Serialize;
use threadcount_judge::words::activity::what;
use threadcount_model::request_time::{RequestTime, RequestTimePart};

/// Width in per cent below which a cell cannot be read and is left out.
const NARROWEST: f64 = 0.2;

/// The flame graph of one variant under one load; the deepest level is the last row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestFlame {
    pub rows: Vec<Vec<FlameCell>>,
}

/// A cell of a flame graph; its position and width are per cent of the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlameCell<Kind = PartKind> {
    /// The kind that the cell's colour stands for.
    pub kind: Kind,
    pub x: f64,
    pub width: f64,
    pub label: String,
    /// The full text, with the milliseconds.
    pub says: String,
}

/// The name of a part at one level; `None` if the part ends above that level.
type Level = fn(&RequestTimePart) -> Option<String>;

const LEVELS: [Level; 4] = [
    |part| Some(kind_name(kind(part.activity.state)).to_owned()),
    |part| Some(what(&part.activity)),
    |part| part.activity.application.clone(),
    |part| part.activity.library.clone(),
];

/// The flame graph of one variant. If sampling found more threads than requests, the sampled time is the whole width.
#[must_use]
pub fn flame(time: &RequestTime) -> RequestFlame {
    let mut parts: Vec<&RequestTimePart> = time.parts.iter().filter(|part| part.time.ms > 0.0).collect();
    // On each level, cells of the same name stand side by side, those with the most time first.
    let path = |part: &RequestTimePart| LEVELS.map(|level| level(part));
    let ms_below = |prefix: &[Option<String>]| -> f64 {
        let below = parts.iter().filter(|part| path(part).starts_with(prefix));
        below.map(|part| part.time.ms).sum()
    };
    let key = |part: &RequestTimePart| {
        let path = path(part);
        (1..=LEVELS.len())
            .map(|depth| (-ms_below(&path[..depth]), path[depth - 1].clone()))
            .collect::<Vec<_>>()
    };
    let mut keyed: Vec<_> = parts.iter().map(|part| (key(part), *part)).collect();
    keyed.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
    parts = keyed.into_iter().map(|(_, part)| part).collect();
    let found: f64 = parts.iter().map(|part| part.time.ms).sum();
    let whole = found.max(time.service_time_ms).max(f64::MIN_POSITIVE);
    let rows = (1..=LEVELS.len()).map(|depth| row(&parts, depth, whole));
    RequestFlame { rows: rows.filter(|row| !row.is_empty()).collect() }
}

fn row(parts: &[&RequestTimePart], depth: usize, whole: f64) -> Vec<FlameCell> {
    let path = |part: &RequestTimePart| LEVELS[..depth].iter().map(|level| level(part)).collect::<Vec<_>>();
    let mut cells: Vec<FlameCell> = Vec::new();
    let mut x = 0.0;
    for group in parts.chunk_by(|a, b| path(a) == path(b)) {
        let ms: f64 = group.iter().map(|part| part.time.ms).sum();
        let (left, width) = (x, 100.0 * ms / whole);
        x += width;
        let label = LEVELS[depth - 1](group[0]);
        cells.extend(label.filter(|_| width >= NARROWEST).map(|label| FlameCell {
            kind: kind(group[0].activity.state),
            x: rounded(left),
            width: rounded(width),
            says: format!(
                "{}: {} per request, {width:.0} %",
                label,
                threadcount_model::figures::milliseconds(ms)
            ),
            label,
        }));
    }
    cells
}

const fn kind_name(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Runs => "running",
        PartKind::WaitsHere => "waiting in the server",
        PartKind::WaitsOutside => "waiting for others",
        PartKind::Rests => "sleeping or unknown",
        PartKind::WithoutThread => "waiting without a thread",
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState};
    use threadcount_model::request_time::TimeShare;

    fn part(state: ThreadState, application: &str, library: Option<&str>, ms: f64) -> RequestTimePart {
        let activity = ThreadActivity {
            state,
            application: Some(application.to_owned()),
            library: library.map(str::to_owned),
            ..ThreadActivity::default()
        };
        RequestTimePart { activity, threads: ms, time: TimeShare { ms, interval: None } }
    }

    fn time(parts: Vec<RequestTimePart>) -> RequestTime {
        RequestTime {
            variant: "a".to_owned(),
            load: "c4".to_owned(),
            service_time_ms: 40.0,
            rate_per_s: 1.0,
            runs: 1,
            samples: 9,
            counted: ThreadRole::Request,
            idle_workers: 0.0,
            parts,
            without_thread: TimeShare { ms: 0.0, interval: None },
            queue: None,
        }
    }

    #[test]
    fn cells_of_one_name_are_one_cell_and_stand_below_the_cell_they_are_part_of() {
        let flame = flame(&time(vec![
            part(ThreadState::Lock, "a.A.a:1", None, 10.0),
            part(ThreadState::Running, "a.R.r:9", None, 4.0),
            part(ThreadState::Lock, "a.B.b:2", Some("lib.L.l:3"), 6.0),
            part(ThreadState::Pool, "a.C.c:3", None, 12.0),
        ]));
        let seen: Vec<Vec<(f64, f64, &str)>> = flame
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| (cell.x, cell.width, cell.label.as_str())).collect())
            .collect();
        assert_eq!(
            seen,
            [
                vec![(0.0, 70.0, "waiting in the server"), (70.0, 10.0, "running")],
                vec![
                    (0.0, 40.0, "waiting for a lock"),
                    (40.0, 30.0, "waiting for a pooled connection"),
                    (70.0, 10.0, "running")
                ],
                vec![
                    (0.0, 25.0, "a.A.a:1"),
                    (25.0, 15.0, "a.B.b:2"),
                    (40.0, 30.0, "a.C.c:3"),
                    (70.0, 10.0, "a.R.r:9")
                ],
                vec![(25.0, 15.0, "lib.L.l:3")],
            ]
        );
        assert_eq!(flame.rows[1][0].says, "waiting for a lock: 16.0 ms per request, 40 %");
    }
}
