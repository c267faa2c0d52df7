//! All requests of a load.

use super::compiled::Compiled;
use super::csv_file::CsvFiles;
use super::{Origin, RequestError, Target};
use crate::secrets::{Secrets, masked_text};
use std::num::NonZeroU32;

/// The requests of a load, shared by all threads and immutable.
#[derive(Debug)]
pub struct RequestSource {
    origin: Origin,
    first_url: String,
    /// Secrets of the user that cannot be recognised in the requests themselves.
    secrets: Secrets,
    pub(super) targets: Vec<Compiled>,
    pub(super) order: Order,
}

/// The order in which targets are sent.
#[derive(Debug)]
pub(super) enum Order {
    /// One after the other, as given.
    InTurn,
    /// At random; the values are the sums of the weights up to and including each target.
    ByWeight(Vec<u64>),
}

impl RequestSource {
    /// Requests for these targets: in turn by their number where all weights are equal, at random by
    /// their weights otherwise.
    ///
    /// # Errors
    /// [`RequestError::NoTarget`], [`RequestError::Origins`], [`RequestError::Placeholder`],
    /// [`RequestError::Csv`], and [`RequestError::Header`] for a `Host` that is none.
    pub fn new(targets: Vec<Target>) -> Result<Self, RequestError> {
        let origin = targets.first().ok_or(RequestError::NoTarget)?.origin.clone();
        if let Some(other) = targets.iter().find(|target| target.origin != origin) {
            return Err(RequestError::Origins { first: origin.to_string(), other: other.origin.to_string() });
        }
        let first_path = targets.first().map(|target| target.path.as_str()).unwrap_or_default();
        let first_url = masked_text(&format!("{origin}{first_path}"));
        let order = Order::by_weights(targets.iter().map(|target| target.weight));
        let mut files = CsvFiles::default();
        let targets =
            targets.iter().map(|target| Compiled::new(target, &mut files)).collect::<Result<_, _>>()?;
        Ok(Self { origin, first_url, secrets: Secrets::default(), targets, order })
    }

    /// A source with one GET of a path without placeholders.
    ///
    /// # Panics
    /// The host is invalid, or the path contains a character that a URL cannot have. For input of users there is [`new`](Self::new).
    #[must_use]
    pub fn get(origin: Origin, path: &str) -> Self {
        let target = Target::get(&format!("{origin}{path}"));
        match target.and_then(|target| Self::new(vec![target])) {
            Ok(source) => source,
            Err(error) => panic!("{error}"),
        }
    }

    /// The same requests with another text for the first URL, and with secrets that are hidden wherever a response shows them.
    #[must_use]
    pub fn shown_as(self, first_url: &str, secrets: Secrets) -> Self {
        Self { first_url: masked_text(first_url), secrets, ..self }
    }

    /// The secrets in the requests, of which the first megabytes are searched: as many as can be read within seconds.
    pub(crate) fn secrets(&self) -> Secrets {
        const MOST_BYTES: usize = 16 << 20;
        let mut secrets = self.secrets.clone();
        let mut left_bytes = MOST_BYTES;
        for text in self.targets.iter().flat_map(Compiled::texts) {
            let read = &text[..text.floor_char_boundary(left_bytes)];
            let _ = secrets.mask_text(read);
            left_bytes -= read.len();
            if left_bytes == 0 {
                break;
            }
        }
        secrets
    }

    /// A source without requests, for a load that others send: it has only what must be known of their requests.
    pub(crate) fn sent_elsewhere(origin: Origin, first_url: String) -> Self {
        Self { origin, first_url, secrets: Secrets::default(), targets: Vec::new(), order: Order::InTurn }
    }

    /// The server to which the requests go.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The first target's URL with its placeholders, and without secrets.
    #[must_use]
    pub fn first_url(&self) -> &str {
        &self.first_url
    }

    /// The names of the captured values that requests send, with repetitions.
    pub fn captures_sent(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().flat_map(Compiled::captures)
    }
}

impl Order {
    fn by_weights(weights: impl Iterator<Item = NonZeroU32>) -> Self {
        let mut sum = 0;
        let sums: Vec<u64> = weights
            .map(|weight| {
                sum += u64::from(weight.get());
                sum
            })
            .collect();
        let first = sums.first().copied().unwrap_or_default();
        let are_equal = (1..).zip(&sums).all(|(count, &sum)| sum == first * count);
        if are_equal { Self::InTurn } else { Self::ByWeight(sums) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(weights: &[u32]) -> Order {
        Order::by_weights(weights.iter().map(|&weight| NonZeroU32::new(weight).unwrap()))
    }

    #[test]
    fn only_different_weights_need_chance() {
        assert!(matches!(order(&[1]), Order::InTurn));
        assert!(matches!(order(&[3, 3, 3]), Order::InTurn));
        assert!(matches!(order(&[1, 2, 3]), Order::ByWeight(sums) if sums == [1, 3, 6]));
        assert!(matches!(order(&[u32::MAX, 1]), Order::ByWeight(sums) if sums[1] == 1 << 32));
    }

    #[test]
    fn all_targets_share_one_origin() {
        let target = |url| Target::get(url).unwrap();
        let error =
            RequestSource::new(vec![target("http://a/"), target("http://A:80/x"), target("https://a/")]);
        assert_eq!(
            error.unwrap_err().to_string(),
            "all targets of one load must have the same scheme, host and port. `http://a` and `https://a` differ: \
             run one load for each"
        );
        assert!(matches!(RequestSource::new(Vec::new()), Err(RequestError::NoTarget)));
    }
}
