//! Text with placeholders.

use super::RequestError;
use super::csv_file::CsvFiles;
use super::place::Place;
use crate::response::VirtualUser;
use crate::share::RowTurn;
use bytes::Bytes;
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use std::io::Write;
use std::sync::Arc;

/// The names of all placeholders.
const NAMES: [&[u8]; 4] = [b"rand", b"seq", b"csv", b"capture"];

/// Text with placeholders, ready to be rendered often.
#[derive(Clone, Debug, Default)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

/// Name and value of a header.
pub(super) type Field = (String, Template);

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
    /// The values of a column; the turn of the request selects one.
    Csv {
        values: Arc<[Bytes]>,
    },
    /// A value from the responses of the request's user.
    Capture {
        name: Arc<str>,
        place: Place,
    },
    /// The length of the body of the same request.
    BodyLength,
}

/// The values of the placeholders in one request.
pub(super) struct Values<'v> {
    pub random: &'v mut Xoshiro256PlusPlus,
    /// The number of the request in the load, from 0.
    pub number: u64,
    /// The row of data files that the request takes.
    pub row: RowTurn,
    pub body_length: usize,
    /// The virtual user who sends the request; `None` if requests do not depend on it.
    pub user: Option<&'v VirtualUser>,
}

impl Template {
    /// Parses a text of a request, in which `{rand:LOW:HIGH}`, `{seq:START}`, `{csv:FILE:COLUMN}` and `{capture:NAME}` are placeholders.
    pub fn parse(text: impl Into<Bytes>, place: Place, files: &mut CsvFiles) -> Result<Self, RequestError> {
        let mut rest: Bytes = text.into();
        if let Some(unfilled) = unfilled(&rest).filter(|_| place == Place::Path) {
            return Err(RequestError::Unfilled {
                placeholder: String::from_utf8_lossy(unfilled).into_owned(),
            });
        }
        let mut template = Self::default();
        while let Some(start) = find_placeholder(&rest) {
            template.push(Piece::Text(rest.split_to(start)));
            let end = rest.iter().position(|&byte| byte == b'}');
            let written = rest.split_to(end.map_or(rest.len(), |end| end + 1));
            template.push(parse_placeholder(&written, place, files)?);
        }
        template.push(Piece::Text(rest));
        Ok(template)
    }

    /// A template without placeholders.
    pub fn text(text: impl Into<Bytes>) -> Self {
        let mut template = Self::default();
        template.push(Piece::Text(text.into()));
        template
    }

    /// A template for the length of the body.
    pub fn body_length() -> Self {
        Self { pieces: vec![Piece::BodyLength] }
    }

    fn push(&mut self, piece: Piece) {
        if !matches!(&piece, Piece::Text(text) if text.is_empty()) {
            self.pieces.push(piece);
        }
    }

    /// Appends another template. Neighbouring text becomes one piece.
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

    /// The names of the captured values in the template.
    pub fn captures(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Capture { name, .. } => Some(&**name),
            _ => None,
        })
    }

    /// The number of pieces that come from files and responses.
    pub fn foreign_values(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Csv { .. } | Piece::Capture { .. })).count()
    }

    /// The text, with `{_}` in place of each value that varies.
    pub fn outline(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => String::from_utf8_lossy(text).into_owned(),
            _ => "{_}".to_owned(),
        };
        self.pieces.iter().map(text).collect()
    }

    /// The text; `None` if something in it varies.
    pub fn as_text(&self) -> Option<Bytes> {
        match self.pieces.as_slice() {
            [] => Some(Bytes::new()),
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        }
    }

    /// Appends the text to `out`, with the values of the placeholders.
    pub fn render(&self, out: &mut Vec<u8>, values: &mut Values<'_>) {
        for piece in &self.pieces {
            let written = match *piece {
                Piece::Text(ref text) => {
                    out.extend_from_slice(text);
                    Ok(())
                }
                Piece::Rand { low, high } => write!(out, "{}", values.random.random_range(low..=high)),
                Piece::Seq { start } => write!(out, "{}", start.wrapping_add(values.number)),
                Piece::Csv { values: ref rows } => {
                    out.extend_from_slice(&rows[values.row.row(rows.len())]);
                    Ok(())
                }
                Piece::Capture { ref name, place } => {
                    place.write(values.user.map_or(&[], |user| user.value(name)), out);
                    Ok(())
                }
                Piece::BodyLength => write!(out, "{}", values.body_length),
            };
            debug_assert!(written.is_ok(), "writing to memory does not fail");
        }
    }
}

/// Whether a text of a request contains placeholders.
#[must_use]
pub fn has_placeholder(text: &str) -> bool {
    find_placeholder(text.as_bytes()).is_some()
}

/// The position of the first text that is meant as a placeholder.
fn find_placeholder(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'{', text).find(|&at| {
        let inside = &text[at + 1..];
        NAMES
            .iter()
            .any(|name| inside.strip_prefix(*name).is_some_and(|after| matches!(after, [b':' | b'}', ..])))
    })
}

/// The first part of a path that stands for a value in somebody's documentation or code, as in `/orders/{id}`, `/orders/:id` and
/// `?page=${page}`. Braces in a query may be JSON or GraphQL.
fn unfilled(path: &[u8]) -> Option<&[u8]> {
    let query = memchr::memchr(b'?', path).unwrap_or(path.len());
    let begins_name = |byte: Option<&u8>| byte.is_some_and(|&it| it.is_ascii_alphabetic() || it == b'_');
    let in_braces = memchr::memchr_iter(b'{', path).find_map(|start| {
        let end = start + memchr::memchr(b'}', &path[start..])?;
        let (name, written) = (&path[start + 1..end], &path[start..=end]);
        let is_name = begins_name(name.first()) && !name.iter().any(|byte| b"{\"".contains(byte));
        // `${NAME}` in capitals is a variable of the environment; `${name}` is not.
        let begin = start - usize::from(path[..start].ends_with(b"$"));
        let is_of_variable = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
        let is_variable = begin < start && !name.is_empty() && name.iter().all(is_of_variable);
        let is_ours = is_variable || find_placeholder(written) == Some(0);
        let key = path[..begin].rsplit(|byte| b"?&".contains(byte)).next().unwrap_or_default();
        let is_value =
            key.ends_with(b"=") && key != b"query=" && matches!(path.get(end + 1), None | Some(b'&'));
        let is_unfilled = if start < query { is_name || name.is_empty() } else { is_name && is_value };
        (is_unfilled && !is_ours).then_some(&path[begin..=end])
    });
    let is_parameter = |part: &&[u8]| part.first() == Some(&b':') && begins_name(part.get(1));
    in_braces.or_else(|| path[..query].split(|&byte| byte == b'/').find(is_parameter))
}

fn parse_placeholder(written: &[u8], place: Place, files: &mut CsvFiles) -> Result<Piece, RequestError> {
    let text = std::str::from_utf8(written).ok();
    let inside = text.and_then(|text| text.strip_prefix('{')?.strip_suffix('}'));
    if let Some((file, column)) = inside.and_then(csv_placeholder) {
        return Ok(Piece::Csv { values: files.column(file, column, place)? });
    }
    inside.and_then(|inside| number_or_capture(inside, place)).ok_or_else(|| {
        let shown = &written[..written.len().min(40)];
        RequestError::Placeholder { placeholder: String::from_utf8_lossy(shown).into_owned() }
    })
}

/// The file and the column. The file's name may contain colons, the column's may not.
fn csv_placeholder(inside: &str) -> Option<(&str, &str)> {
    let (file, column) = inside.strip_prefix("csv:")?.rsplit_once(':')?;
    (!file.is_empty() && !column.is_empty()).then_some((file, column))
}

fn number_or_capture(inside: &str, place: Place) -> Option<Piece> {
    if let Some(numbers) = inside.strip_prefix("rand:") {
        let (low, high) = numbers.split_once(':')?;
        let (low, high) = (low.parse().ok()?, high.parse().ok()?);
        return (low <= high).then_some(Piece::Rand { low, high });
    }
    if let Some(name) = inside.strip_prefix("capture:") {
        return (!name.is_empty()).then(|| Piece::Capture { name: name.into(), place });
    }
    let start = inside.strip_prefix("seq:")?.parse().ok()?;
    Some(Piece::Seq { start })
}

/// The text with the files of `{csv:FILE:COLUMN}` in a folder.
pub(super) fn with_files_in(folder: &std::path::Path, text: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = find_placeholder(rest) {
        out.extend_from_slice(&rest[..start]);
        let end =
            rest[start..].iter().position(|&byte| byte == b'}').map_or(rest.len(), |end| start + end + 1);
        let written = &rest[start..end];
        let inside =
            std::str::from_utf8(written).ok().and_then(|text| text.strip_prefix('{')?.strip_suffix('}'));
        match inside.and_then(csv_placeholder) {
            Some((file, column)) => {
                let file = folder.join(file);
                out.extend_from_slice(format!("{{csv:{}:{column}}}", file.display()).as_bytes());
            }
            None => out.extend_from_slice(written),
        }
        rest = &rest[end..];
    }
    out.extend_from_slice(rest);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn parse(text: &str, place: Place) -> Result<Template, RequestError> {
        Template::parse(text.to_owned(), place, &mut CsvFiles::default())
    }

    fn rendered(text: &str, number: u64) -> String {
        rendered_for(text, number, Place::Body, None)
    }

    fn rendered_for(text: &str, number: u64, place: Place, user: Option<&VirtualUser>) -> String {
        let mut out = Vec::new();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut values =
            Values { random: &mut random, number, row: RowTurn::default(), body_length: 7, user };
        parse(text, place).unwrap().render(&mut out, &mut values);
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
            "{csvs:a:b}",
            r#"{"csv": 1, "capture": {}}"#,
            "{",
            "{ran",
            "{RAND:1:2}",
        ] {
            assert_eq!(rendered(text, 0), text);
        }
    }

    #[test]
    fn a_value_that_was_not_filled_in_is_named_and_other_braces_of_a_path_stay() {
        for (path, named) in [
            ("/orders/{id}", "{id}"),
            ("/a/{order-id}/b?x=1", "{order-id}"),
            ("/a{id:[0-9]+}", "{id:[0-9]+}"),
            ("/a/{seq:1}/{id}", "{id}"),
            ("/a?page={page}&size=3", "{page}"),
            ("/a?size=3&customer={id}", "{id}"),
            ("/a?customer=${id}", "${id}"),
            ("/a/${orderId}/b", "${orderId}"),
            ("/a/{}/b", "{}"),
            ("/a/${}", "${}"),
            ("/a/:id", ":id"),
            ("/:order_id/b?x=1", ":order_id"),
        ] {
            let error = parse(path, Place::Path).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{named}` in the path stands for a value")),
                "{path}: {error}"
            );
            assert!(parse(path, Place::Body).is_ok() && parse(path, Place::Header).is_ok(), "{path}");
        }
        for path in [
            "/a/${ID}",
            "/a/{rand:1:9}",
            "/a/%7Bid%7D",
            "/a/%3Aid",
            "/a/b:cancel",
            "/a/:9",
            "/a?q={}",
            "/a?to=/:id",
            "/a?q={\"id\":1}",
            "/a?query={__typename}",
            "/a?query={hero{name}}",
            "/a?fields=x{y}",
            "/a?q={!lucene}b",
        ] {
            assert!(parse(path, Place::Path).is_ok(), "{path}");
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
            "{csv}",
            "{csv:file.csv}",
            "{csv::column}",
            "{csv:file.csv:}",
            "{capture}",
            "{capture:}",
        ];
        for text in malformed {
            let error = parse(&format!("{{}}/{text}"), Place::Body).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` is not a placeholder. Write {{rand:1:1000}}")),
                "{error}"
            );
        }
    }

    #[test]
    fn random_numbers_reach_both_ends_and_no_further() {
        let template = parse("{rand:1:3}", Place::Body).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = [0; 5];
        for _ in 0..300 {
            let mut out = Vec::new();
            let row = RowTurn::default();
            let values = &mut Values { random: &mut random, number: 0, row, body_length: 0, user: None };
            template.render(&mut out, values);
            counts[String::from_utf8(out).unwrap().parse::<usize>().unwrap()] += 1;
        }
        assert!(counts[0] == 0 && counts[4] == 0, "{counts:?}");
        assert!(counts[1..4].iter().all(|&count| count > 60), "{counts:?}");
    }

    #[test]
    fn neighbouring_text_becomes_one_piece() {
        let mut template = Template::text("a");
        template.append(parse("b{seq:1}", Place::Body).unwrap());
        assert_eq!(template.pieces.len(), 2);
        assert!(template.as_text().is_none());
    }

    #[test]
    fn a_captured_value_is_written_as_its_place_needs_and_empty_before_it_is_known() {
        let mut user = VirtualUser::new(vec!["t=regex:<(.*)>".parse().unwrap()].into(), false);
        assert_eq!(rendered_for("[{capture:t}]", 0, Place::Body, Some(&user)), "[]");
        assert_eq!(rendered_for("[{capture:t}]", 0, Place::Body, None), "[]");
        user.learn(&crate::response::ResponseParts::new(200, b"", b"<a b\t>"), 0).unwrap();
        assert_eq!(rendered_for("[{capture:t}]", 0, Place::Body, Some(&user)), "[a b\t]");
        assert_eq!(rendered_for("[{capture:t}]", 0, Place::Path, Some(&user)), "[a%20b%09]");
        let template = parse("{capture:t}{capture:u}{seq:1}", Place::Path).unwrap();
        assert_eq!(template.captures().collect::<Vec<_>>(), ["t", "u"]);
        assert_eq!(template.foreign_values(), 2);
    }

    #[test]
    fn files_are_looked_for_in_a_folder_unless_their_path_is_absolute() {
        let moved = |text: &str| with_files_in(std::path::Path::new("/data"), text.as_bytes());
        assert_eq!(moved("a{csv:u.csv:id}b{seq:1}{"), "a{csv:/data/u.csv:id}b{seq:1}{");
        assert_eq!(moved("{csv:/u.csv:id}{csv:broken"), "{csv:/u.csv:id}{csv:broken");
    }
}
