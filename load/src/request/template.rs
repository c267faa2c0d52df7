//! Text with placeholders.

use super::RequestError;
use bytes::Bytes;
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use std::io::Write;

/// Text with placeholders, ready to be rendered often.
#[derive(Clone, Debug, Default)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(Bytes),
    Rand {
        low: i64,
        high: i64,
    },
    Seq {
        start: u64,
    },
    /// How long the body of the same request is.
    BodyLength,
}

/// What the placeholders of one request stand for.
pub(super) struct Values<'v> {
    pub random: &'v mut Xoshiro256PlusPlus,
    /// Which request of the load it is, from 0.
    pub number: u64,
    pub body_length: usize,
}

impl Template {
    /// Text in which `{rand:LOW:HIGH}` and `{seq:START}` are placeholders.
    pub fn parse(text: impl Into<Bytes>) -> Result<Self, RequestError> {
        let mut rest: Bytes = text.into();
        let mut template = Self::default();
        while let Some(start) = find_placeholder(&rest) {
            template.push(Piece::Text(rest.split_to(start)));
            let end = rest.iter().position(|&byte| byte == b'}');
            let written = rest.split_to(end.map_or(rest.len(), |end| end + 1));
            let piece = parse_placeholder(&written).ok_or_else(|| {
                let shown = &written[..written.len().min(40)];
                RequestError::Placeholder { placeholder: String::from_utf8_lossy(shown).into_owned() }
            })?;
            template.push(piece);
        }
        template.push(Piece::Text(rest));
        Ok(template)
    }

    /// Text without placeholders.
    pub fn text(text: impl Into<Bytes>) -> Self {
        let mut template = Self::default();
        template.push(Piece::Text(text.into()));
        template
    }

    /// The length of the body.
    pub fn body_length() -> Self {
        Self { pieces: vec![Piece::BodyLength] }
    }

    fn push(&mut self, piece: Piece) {
        if !matches!(&piece, Piece::Text(text) if text.is_empty()) {
            self.pieces.push(piece);
        }
    }

    /// This, then that. Neighbouring text becomes one piece.
    pub fn append(&mut self, other: Self) {
        for piece in other.pieces {
            match (self.pieces.last_mut(), piece) {
                (Some(Piece::Text(left)), Piece::Text(right)) => *left = [&left[..], &right].concat().into(),
                (_, piece) => self.pieces.push(piece),
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The text, where nothing in it varies.
    pub fn as_text(&self) -> Option<Bytes> {
        match self.pieces.as_slice() {
            [] => Some(Bytes::new()),
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        }
    }

    /// Appends the text to `out`, with each placeholder's value in its place.
    pub fn render(&self, out: &mut Vec<u8>, values: &mut Values<'_>) {
        for piece in &self.pieces {
            let written = match *piece {
                Piece::Text(ref text) => {
                    out.extend_from_slice(text);
                    Ok(())
                }
                Piece::Rand { low, high } => write!(out, "{}", values.random.random_range(low..=high)),
                Piece::Seq { start } => write!(out, "{}", start.wrapping_add(values.number)),
                Piece::BodyLength => write!(out, "{}", values.body_length),
            };
            debug_assert!(written.is_ok(), "writing to memory does not fail");
        }
    }
}

/// Where something begins that is meant as a placeholder.
fn find_placeholder(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'{', text).find(|&at| {
        let inside = &text[at + 1..];
        [&b"rand"[..], b"seq"]
            .iter()
            .any(|name| inside.strip_prefix(*name).is_some_and(|after| matches!(after, [b':' | b'}', ..])))
    })
}

fn parse_placeholder(written: &[u8]) -> Option<Piece> {
    let inside = std::str::from_utf8(written).ok()?.strip_prefix('{')?.strip_suffix('}')?;
    if let Some(numbers) = inside.strip_prefix("rand:") {
        let (low, high) = numbers.split_once(':')?;
        let (low, high) = (low.parse().ok()?, high.parse().ok()?);
        return (low <= high).then_some(Piece::Rand { low, high });
    }
    let start = inside.strip_prefix("seq:")?.parse().ok()?;
    Some(Piece::Seq { start })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn rendered(text: &str, number: u64) -> String {
        let mut out = Vec::new();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut values = Values { random: &mut random, number, body_length: 7 };
        Template::parse(text.to_owned()).unwrap().render(&mut out, &mut values);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn placeholders_are_replaced_and_other_braces_stay() {
        assert_eq!(rendered("{seq:1}", 0), "1");
        assert_eq!(rendered("a{seq:40}b{seq:0}c", 2), "a42b2c");
        assert_eq!(rendered("{rand:7:7}{rand:-3:-3}", 0), "7-3");
        assert_eq!(rendered("{{seq:1}}", 0), "{1}");
        for text in [
            "",
            "{}",
            "{{}}",
            r#"{"rand": {"seq": 1}}"#,
            "{sequence:1}",
            "{random}",
            "{",
            "{ran",
            "{RAND:1:2}",
        ] {
            assert_eq!(rendered(text, 0), text);
        }
    }

    #[test]
    fn a_malformed_placeholder_is_named() {
        let malformed = [
            "{rand:5}",
            "{rand}",
            "{seq}",
            "{rand:1:2:3}",
            "{rand:2:1}",
            "{rand:a:b}",
            "{rand::}",
            "{seq:}",
            "{seq:-1}",
            "{seq:1:2}",
            "{seq: 1}",
            "{rand:1:99999999999999999999}",
            "{seq:1",
        ];
        for text in malformed {
            let error = Template::parse(format!("{{}}/{text}")).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` is not a placeholder: write {{rand:1:1000}}")),
                "{error}"
            );
        }
    }

    #[test]
    fn random_numbers_reach_both_ends_and_no_further() {
        let template = Template::parse("{rand:1:3}").unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = [0; 5];
        for _ in 0..300 {
            let mut out = Vec::new();
            template.render(&mut out, &mut Values { random: &mut random, number: 0, body_length: 0 });
            counts[String::from_utf8(out).unwrap().parse::<usize>().unwrap()] += 1;
        }
        assert!(counts[0] == 0 && counts[4] == 0, "{counts:?}");
        assert!(counts[1..4].iter().all(|&count| count > 60), "{counts:?}");
    }

    #[test]
    fn neighbouring_text_becomes_one_piece() {
        let mut template = Template::text("a");
        template.append(Template::parse("b{seq:1}").unwrap());
        assert_eq!(template.pieces.len(), 2);
        assert!(template.as_text().is_none());
    }
}
