//! The file of a log of requests.

use std::path::PathBuf;

/// A file whose name ends with `.csv` or `.csv.gz`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn log_file(text: &str) -> Result<PathBuf, String> {
    if text == "-" {
        return Err("standard output has the result; name a file, e.g. requests.csv".to_owned());
    }
    let ending = text.to_ascii_lowercase();
    if ending.ends_with(".csv") || ending.ends_with(".csv.gz") {
        Ok(text.into())
    } else {
        Err("it is written as CSV: name a file that ends with .csv or .csv.gz".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_a_csv_file() {
        assert_eq!(log_file("a/b.csv"), Ok("a/b.csv".into()));
        assert!(log_file("x.CSV.gz").is_ok());
        assert!(log_file("-").unwrap_err().contains("name a file"));
        for text in ["", "x", "x.parquet", "x.gz"] {
            assert!(log_file(text).unwrap_err().contains(".csv"), "{text}");
        }
    }
}
