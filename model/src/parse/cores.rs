//! Cores of this machine.

/// Cores by number, as in /proc/cpuinfo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores(pub Vec<usize>);

/// Cores and ranges of cores: `0,1`, `0-3,6`.
///
/// # Errors
/// The text cannot be read; the error says what to write instead.
pub fn cores(text: &str) -> Result<Cores, String> {
    let wrong = || "write core numbers or ranges, e.g. 0,1 or 0-3".to_owned();
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u16>().map(usize::from).map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(wrong());
        }
        cores.extend(first..=last);
    }
    Ok(Cores(cores))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_numbers_and_ranges() {
        assert_eq!(cores("0-2, 5"), Ok(Cores(vec![0, 1, 2, 5])));
        for text in ["", "2-1", "one", "-1", "70000"] {
            assert!(cores(text).is_err(), "{text}");
        }
    }
}
