//! The part of a load that one of several processes sends.
//!
//! Connection `k` of the whole load belongs to share `k mod count`, and request `n` to the share of connection `n mod connections`. So each
//! share has work in proportion to its connections, all shares together send each request of the load exactly once, and no share needs to
//! know of another.

use std::fmt;
use std::str::FromStr;

/// The largest number of shares of one load.
const MOST_SHARES: u32 = 100_000;

/// The part of a load that belongs to this process: `index` of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoadShare {
    index: u32,
    count: u32,
}

impl Default for LoadShare {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl LoadShare {
    /// The whole load.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Share `index`, from 0, of `count`; `None`: there is no such share.
    #[must_use]
    pub const fn new(index: u32, count: u32) -> Option<Self> {
        if index < count && count <= MOST_SHARES { Some(Self { index, count }) } else { None }
    }

    /// The number of the share, from 0.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The number of shares.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Whether the share is the whole load.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.count == 1
    }

    /// The number of `connections` that belong to this share.
    #[must_use]
    pub fn connections(self, connections: u32) -> u32 {
        connections.saturating_sub(self.index).div_ceil(self.count)
    }

    /// The fraction of the rate that belongs to this share of a load over this many connections, 0..=1.
    #[must_use]
    pub fn fraction(self, connections: u32) -> f64 {
        if connections == 0 { 0.0 } else { f64::from(self.connections(connections)) / f64::from(connections) }
    }

    /// The number of this share's requests among the first `requests` requests of a load over this many connections.
    #[must_use]
    pub fn requests(self, requests: u64, connections: u32) -> u64 {
        if self.is_whole() || connections == 0 {
            return requests;
        }
        let (rounds, rest) = (requests / u64::from(connections), requests % u64::from(connections));
        rounds * u64::from(self.connections(connections)) + u64::from(self.connections(rest as u32))
    }

    /// The number in the whole load of the share's own request `turn`, counted from 0.
    #[must_use]
    pub fn number_of(self, turn: u64, connections: u32) -> u64 {
        let own = u64::from(self.connections(connections));
        if self.is_whole() || own == 0 {
            return turn;
        }
        let place = u64::from(self.index) + u64::from(self.count) * (turn % own);
        turn / own * u64::from(connections) + place
    }

    /// The number of the share's requests before request `number`, which must be one of its own.
    #[must_use]
    pub fn turn_of(self, number: u64, connections: u32) -> u64 {
        self.requests(number, connections)
    }
}

/// Prints `2/4`.
impl fmt::Display for LoadShare {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.index, self.count)
    }
}

impl FromStr for LoadShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "write INDEX/COUNT, the index from 0: 0/4 to 3/4 are the shares of four processes; at most {MOST_SHARES}"
            )
        };
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |digits: &str| digits.parse::<u32>().map_err(|_| wrong());
        Self::new(number(index)?, number(count)?).ok_or_else(wrong)
    }
}

/// Tells which row of a data file a request takes. Rows are divided between the shares, so that no two shares ever send the same row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowTurn {
    share: LoadShare,
    turn: u64,
}

impl RowTurn {
    /// The row of request `number` of a load over this many connections.
    pub fn of(share: LoadShare, number: u64, connections: u32) -> Self {
        Self { share, turn: share.turn_of(number, connections) }
    }

    /// The row among `rows`. With fewer rows than shares, some shares take the same row.
    pub fn row(self, rows: usize) -> usize {
        if self.share.is_whole() {
            return (self.turn % rows.max(1) as u64) as usize;
        }
        let (index, count) = (self.share.index as usize % rows.max(1), self.share.count as usize);
        let own = rows.saturating_sub(index).div_ceil(count).max(1) as u64;
        index + count * (self.turn % own) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share(index: u32, count: u32) -> LoadShare {
        LoadShare::new(index, count).unwrap()
    }

    #[test]
    fn ten_connections_on_four_are_three_three_two_and_two() {
        let connections: Vec<u32> = (0..4).map(|index| share(index, 4).connections(10)).collect();
        assert_eq!(connections, [3, 3, 2, 2]);
        let requests: Vec<u64> = (0..4).map(|index| share(index, 4).requests(25, 10)).collect();
        assert_eq!(requests, [8, 7, 5, 5], "two rounds of ten, and five more: 0 to 4");
        assert_eq!((0..4).map(|turn| share(1, 4).number_of(turn, 10)).collect::<Vec<_>>(), [1, 5, 9, 11]);
    }

    #[test]
    fn the_whole_is_as_if_there_were_no_shares() {
        let whole = LoadShare::WHOLE;
        assert_eq!((whole.connections(7), whole.requests(99, 7), whole.number_of(12, 7)), (7, 99, 12));
        assert_eq!(whole.fraction(7), 1.0);
        assert_eq!((0..5).map(|n| RowTurn::of(whole, n, 7).row(3)).collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_share_is_read_as_it_is_written_and_others_are_refused() {
        assert_eq!("2/4".parse::<LoadShare>(), Ok(share(2, 4)));
        assert_eq!(share(2, 4).to_string(), "2/4");
        for text in ["4/4", "1", "1/0", "-1/4", "a/b", "0/100001", "1/4/2"] {
            assert!(text.parse::<LoadShare>().unwrap_err().contains("INDEX/COUNT"), "{text}");
        }
    }

    #[test]
    fn rows_are_divided_and_taken_in_turn() {
        let rows = |index| {
            let share = share(index, 3);
            (0..4).map(|turn| RowTurn::of(share, share.number_of(turn, 7), 7).row(8)).collect::<Vec<_>>()
        };
        assert_eq!(rows(0), [0, 3, 6, 0]);
        assert_eq!(rows(1), [1, 4, 7, 1]);
        assert_eq!(rows(2), [2, 5, 2, 5]);
        assert_eq!(RowTurn::of(share(4, 5), 4, 5).row(3), 1, "more shares than rows: one is taken twice");
    }

    proptest! {
        #[test]
        fn the_shares_together_are_the_whole_and_each_is_in_proportion(
            count in 1u32..40, more in 0u32..200, requests in 0u64..5_000,
        ) {
            let connections = count + more;
            let shares: Vec<LoadShare> = (0..count).map(|index| share(index, count)).collect();
            prop_assert_eq!(shares.iter().map(|it| it.connections(connections)).sum::<u32>(), connections);
            prop_assert_eq!(shares.iter().map(|it| it.requests(requests, connections)).sum::<u64>(), requests);
            prop_assert!((shares.iter().map(|it| it.fraction(connections)).sum::<f64>() - 1.0).abs() < 1e-9);
            for share in shares {
                let expected = requests as f64 * share.fraction(connections);
                let own = share.requests(requests, connections) as f64;
                prop_assert!((own - expected).abs() < 2.0, "{} has {} and not {}", share, own, expected);
            }
        }

        #[test]
        fn each_number_belongs_to_one_share_and_knows_its_turn(
            count in 1u32..12, more in 0u32..30, each in 1u64..50,
        ) {
            let connections = count + more;
            let requests = each * u64::from(connections);
            let mut all = Vec::new();
            for index in 0..count {
                let share = share(index, count);
                for turn in 0..share.requests(requests, connections) {
                    let number = share.number_of(turn, connections);
                    prop_assert_eq!(share.turn_of(number, connections), turn);
                    all.push(number);
                }
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..requests).collect::<Vec<_>>());
        }

        #[test]
        fn no_row_is_sent_by_two_shares(count in 1u32..20, more_rows in 0usize..50, turns in 1u64..100) {
            let rows = count as usize + more_rows;
            let mut senders = vec![None; rows];
            for index in 0..count {
                for turn in 0..turns {
                    let share = share(index, count);
                    let row = RowTurn::of(share, share.number_of(turn, count), count).row(rows);
                    prop_assert!(senders[row].is_none_or(|sender| sender == index), "row {}", row);
                    senders[row] = Some(index);
                }
            }
        }
    }
}
