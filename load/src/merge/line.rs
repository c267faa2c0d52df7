//! The lines in which a process reports its share. docs/contributing/share-format.md describes the format.

use super::account::{ShareBegin, ShareEnd, ShareSecond};
use crate::share::LoadShare;
use flate2::Crc;
use serde::{Deserialize, Serialize};

/// The name and version of the format, with which each line begins.
pub const FORMAT: &str = "threadcount/share/2";

/// The message of one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Message {
    /// The process and the load that it sends; the first line of each share.
    Begin(ShareBegin),
    /// The wall clock when the line was written, so that the reader can tell how far the clocks are apart.
    Clock {
        /// Nanoseconds since 1970.
        unix_ns: u64,
    },
    /// One second of the load.
    Second(ShareSecond),
    /// Everything that the share measured; the last line.
    End(Box<ShareEnd>),
    /// Nothing was sent; the last line.
    Failed {
        /// The reason.
        why: String,
    },
}

/// The parts of a line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// The share that the line belongs to.
    pub share: LoadShare,
    /// The number of the load, from 1, if a process sends several loads one after the other; 0 if there is only one, or the line is about
    /// none.
    pub step: u32,
    /// The number of the line within its load, from 0.
    pub number: u32,
    pub message: Message,
}

/// The reason why a text that begins like a line is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line is from another version of the program.
    #[error(
        "it is of the format `{format}`, and this is {FORMAT}: use the same version of threadcount everywhere"
    )]
    Format {
        /// The format that the line begins with.
        format: String,
    },
    /// The line was cut off, or changed on its way.
    #[error("it is damaged: its checksum is {found:08x}, and that of its text {expected:08x}")]
    Checksum {
        /// The checksum in the line.
        found: u32,
        /// The checksum of the line's text.
        expected: u32,
    },
    /// The line lacks some of its parts.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl Line {
    /// A line about a share that sends one load.
    #[must_use]
    pub const fn new(share: LoadShare, number: u32, message: Message) -> Self {
        Self { share, step: 0, number, message }
    }

    /// The same line about one of several loads, counted from 1.
    #[must_use]
    pub fn of_step(self, step: u32) -> Self {
        Self { step, ..self }
    }

    /// The text of the line, without the line's end: format, share, number (`STEP.NUMBER` for several loads), checksum, JSON.
    ///
    /// # Errors
    /// The library's error.
    pub fn text(&self) -> Result<String, String> {
        let json = serde_json::to_string(&self.message).map_err(|error| error.to_string())?;
        let which = match self.step {
            0 => format!("{} {}", self.share, self.number),
            step => format!("{} {step}.{}", self.share, self.number),
        };
        let sum = checksum(&which, &json);
        Ok(format!("{FORMAT} {which} {sum:08x} {json}"))
    }

    /// The line in a text, wherever it begins, because programs that gather output put names before it. `None`: there is none.
    ///
    /// # Errors
    /// The line is from another version, or damaged.
    pub fn find(text: &str) -> Option<Result<Self, LineError>> {
        let (name, ours) = FORMAT.rsplit_once('/')?;
        let start = text.find(name)?;
        let rest = &text[start + name.len()..];
        // A text that merely mentions the name of the format is not a line.
        let (version, rest) = rest.strip_prefix('/')?.split_once(' ')?;
        if version != ours {
            return Some(Err(LineError::Format { format: format!("{name}/{version}") }));
        }
        Some(Self::parse(rest.trim_end()))
    }

    fn parse(text: &str) -> Result<Self, LineError> {
        let damaged = |what: &str| LineError::Damaged(what.to_owned());
        let mut parts = text.splitn(4, ' ');
        let mut part = || parts.next().ok_or_else(|| damaged("it is cut off"));
        let (share_text, number_text) = (part()?, part()?);
        let share: LoadShare = share_text.parse().map_err(|_| damaged("its share is none"))?;
        let whole = |text: &str| text.parse::<u32>().map_err(|_| damaged("its number is none"));
        let (step, number) = match number_text.split_once('.') {
            Some((step, number)) => (whole(step)?, whole(number)?),
            None => (0, whole(number_text)?),
        };
        let found = u32::from_str_radix(part()?, 16).map_err(|_| damaged("its checksum is none"))?;
        let json = part()?;
        let expected = checksum(&format!("{share_text} {number_text}"), json);
        if found != expected {
            return Err(LineError::Checksum { found, expected });
        }
        let message = serde_json::from_str(json).map_err(|error| LineError::Damaged(error.to_string()))?;
        Ok(Self { share, step, number, message })
    }
}

/// The CRC-32 of share and number, a space, and the JSON.
fn checksum(which: &str, json: &str) -> u32 {
    let mut crc = Crc::new();
    crc.update(which.as_bytes());
    crc.update(b" ");
    crc.update(json.as_bytes());
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        let share = LoadShare::new(2, 4).unwrap();
        Line::new(share, 7, Message::Clock { unix_ns: 1_700_000_000_123_456_789 })
    }

    #[test]
    fn a_line_has_a_known_text_and_comes_back() {
        let text = line().text().unwrap();
        // The checksum equals Python's zlib.crc32(b'2/4 7 {"clock":{"unix_ns":1700000000123456789}}').
        assert_eq!(text, KNOWN);
        assert_eq!(Line::find(&text), Some(Ok(line())));
    }

    const KNOWN: &str = "threadcount/share/2 2/4 7 67c546fb {\"clock\":{\"unix_ns\":1700000000123456789}}";

    #[test]
    fn a_line_about_one_of_several_loads_says_which() {
        let text = line().of_step(3).text().unwrap();
        assert!(text.starts_with("threadcount/share/2 2/4 3.7 "), "{text}");
        assert_eq!(Line::find(&text), Some(Ok(line().of_step(3))));
        let of_another = text.replace(" 3.7 ", " 4.7 ");
        assert!(matches!(Line::find(&of_another), Some(Err(LineError::Checksum { .. }))));
        assert!(matches!(Line::find(&text.replace(" 3.7 ", " 3. ")), Some(Err(LineError::Damaged(_)))));
    }

    #[test]
    fn what_other_programs_put_before_a_line_does_not_matter() {
        let text = line().text().unwrap();
        for around in [format!("2: {text}\r\n"), format!("[pod/load-2-x7 load] {text}"), format!("{text}  ")]
        {
            assert_eq!(Line::find(&around), Some(Ok(line())), "{around}");
        }
    }

    #[test]
    fn other_output_is_no_line_and_a_damaged_line_says_so() {
        for other in ["", "hello", "see threadcount/share/2", "threadcount/load/1 {}"] {
            assert_eq!(Line::find(other), None, "{other}");
        }
        let text = line().text().unwrap();
        assert!(matches!(Line::find(&text.replace("789", "788")), Some(Err(LineError::Checksum { .. }))));
        assert!(matches!(Line::find(&text.replace("2/4", "3/4")), Some(Err(LineError::Checksum { .. }))));
        assert!(matches!(Line::find(&text[..text.len() - 1]), Some(Err(LineError::Checksum { .. }))));
        assert!(matches!(Line::find("threadcount/share/2 2/4"), Some(Err(LineError::Damaged(_)))));
        let later = text.replace("share/2", "share/3");
        assert!(Line::find(&later).unwrap().unwrap_err().to_string().contains("threadcount/share/3"));
    }
}
