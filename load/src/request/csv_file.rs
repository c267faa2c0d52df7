//! Data files with values for requests: `{csv:FILE:COLUMN}`.

use super::RequestError;
use super::place::Place;
use crate::whole_file::{self, LARGEST_OF_A_REQUEST};
use bytes::Bytes;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The data files of one source, each read once.
#[derive(Debug, Default)]
pub(super) struct CsvFiles {
    tables: HashMap<PathBuf, Table>,
}

#[derive(Debug)]
struct Table {
    columns: Vec<String>,
    /// The rows; each is as long as `columns`.
    rows: Vec<csv::ByteRecord>,
}

impl CsvFiles {
    /// The values of a column, from the first row on, in the form for this place; at least one.
    pub fn column(&mut self, file: &str, column: &str, place: Place) -> Result<Arc<[Bytes]>, RequestError> {
        let refused = |why: String| RequestError::Csv { file: file.into(), column: column.to_owned(), why };
        let path = Path::new(file);
        if !self.tables.contains_key(path) {
            self.tables.insert(path.to_owned(), Table::read(path).map_err(refused)?);
        }
        let Some(table) = self.tables.get(path) else { return Err(refused("it was not read".to_owned())) };
        let at = table.columns.iter().position(|name| name == column).ok_or_else(|| {
            refused(format!("it has no such column; its first line names {}", table.columns.join(", ")))
        })?;
        let value = |(row, record): (usize, &csv::ByteRecord)| {
            let value = record.get(at).unwrap_or_default();
            // The first line contains the names of the columns.
            place.checked(value).map_err(|why| refused(format!("in row {} {why}", row + 1)))
        };
        table.rows.iter().enumerate().map(value).collect()
    }
}

impl Table {
    fn read(file: &Path) -> Result<Self, String> {
        let bytes = whole_file::read(file, LARGEST_OF_A_REQUEST)
            .map_err(|error| format!("it cannot be read: {error}"))?;
        let mut reader = csv::Reader::from_reader(&*bytes);
        let columns = reader.headers().map_err(|error| cannot_read(&error))?;
        let columns: Vec<String> = columns.iter().map(|name| name.trim().to_owned()).collect();
        let rows =
            reader.byte_records().collect::<Result<Vec<_>, _>>().map_err(|error| cannot_read(&error))?;
        if rows.is_empty() {
            return Err(
                "it has no rows: write the names of the columns in the first line, values below".to_owned()
            );
        }
        Ok(Self { columns, rows })
    }
}

fn cannot_read(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, pos } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line} has {len} values and the first line {expected_len}")
        }
        _ => format!("it cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, fs, process};

    fn with_file<T>(name: &str, content: &[u8], test: impl FnOnce(&str) -> T) -> T {
        let path = env::temp_dir().join(format!("threadcount-csv-{}-{name}.csv", process::id()));
        fs::write(&path, content).unwrap();
        let result = test(path.to_str().unwrap());
        fs::remove_file(&path).unwrap();
        result
    }

    fn values(name: &str, content: &[u8], column: &str, place: Place) -> Result<Vec<String>, String> {
        with_file(name, content, |file| {
            let column =
                CsvFiles::default().column(file, column, place).map_err(|error| error.to_string())?;
            Ok(column.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect())
        })
    }

    #[test]
    fn a_column_is_found_by_the_name_in_the_first_line() {
        let content = b"id, name\n1,Ann\n2,\"Bob, \"\"B\"\"\"\n";
        assert_eq!(values("body", content, "name", Place::Body).unwrap(), ["Ann", "Bob, \"B\""]);
        assert_eq!(values("id", content, "id", Place::Body).unwrap(), ["1", "2"]);
        assert_eq!(values("path", content, "name", Place::Path).unwrap(), ["Ann", "Bob,%20%22B%22"]);
    }

    #[test]
    fn a_file_that_cannot_be_used_says_which_and_why() {
        let refused = |name: &str, content: &[u8], column: &str, why: &str| {
            let error = values(name, content, column, Place::Header).unwrap_err();
            assert!(error.contains(name) && error.contains(why), "{error}");
        };
        refused("none", b"id,name\n1,2\n", "nam", "it has no such column; its first line names id, name");
        refused("empty", b"id,name\n", "id", "it has no rows");
        refused("unequal", b"id,name\n1,2\n3\n", "id", "line 3 has 1 values and the first line 2");
        refused("control", b"id\nok\n\"a\r\nb\"\n", "id", "in row 2 the value has a control character");
        let missing = CsvFiles::default().column("missing.csv", "id", Place::Body).unwrap_err().to_string();
        assert!(missing.starts_with("`{csv:missing.csv:id}`: it cannot be read"), "{missing}");
    }
}
