//! Histograms as text: HdrHistogram's V2 encoding, deflated, in base64, as in its interval logs.

use crate::recorder::Slice;
use crate::times::Times;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};
use std::io::Read;

/// The number of bytes before the deflated ones: cookie and length.
const OUTER_HEAD_BYTES: usize = 8;
/// The number of bytes before the counts: cookie, length, offset, digits, lowest, highest and ratio.
const INNER_HEAD_BYTES: usize = 40;
/// The largest size of a decoded histogram. Ours have some 25,000 counts of at most 9 bytes each.
const MOST_INNER_BYTES: u64 = 1 << 18;

/// The lowest and highest value, and the number of digits.
pub(crate) type Bounds = (u64, u64, u8);

/// The text of a histogram.
///
/// # Errors
/// The library's error.
pub(crate) fn encode(histogram: &Histogram<u64>) -> Result<String, String> {
    let mut bytes = Vec::new();
    let done = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    done.map_err(|error| error.to_string())?;
    Ok(STANDARD.encode(bytes))
}

/// The histogram of a text, which must have these bounds. The length that the text states is not trusted.
///
/// # Errors
/// The mistake in the text.
pub(crate) fn decode(text: &str, bounds: Bounds) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("it is not base64: {error}"))?;
    let deflated = bytes.get(OUTER_HEAD_BYTES..).ok_or("it is too short")?;
    let mut inner = Vec::new();
    let inflated = ZlibDecoder::new(deflated).take(MOST_INNER_BYTES).read_to_end(&mut inner);
    inflated.map_err(|error| format!("it cannot be inflated: {error}"))?;
    let number = |at: usize, length: usize| {
        inner
            .get(at..at + length)
            .map(|bytes| bytes.iter().fold(0_u64, |sum, &byte| (sum << 8) | u64::from(byte)))
    };
    let head = (number(4, 4), number(12, 4), number(16, 8), number(24, 8));
    let (low, high, digits) = bounds;
    let length = inner.len().saturating_sub(INNER_HEAD_BYTES) as u64;
    if head != (Some(length), Some(digits.into()), Some(low), Some(high)) {
        return Err("its length or its bounds are others".to_owned());
    }
    Deserializer::new().deserialize(&mut &inner[..]).map_err(|error| error.to_string())
}

/// The times in a text.
///
/// # Errors
/// The mistake in the text.
pub(crate) fn times(text: &str) -> Result<Times, String> {
    decode(text, Times::BOUNDS).map(Times::of_histogram)
}

/// Serialises times as the text of their histogram; without times the text is empty.
impl Serialize for Times {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        if self.count() == 0 {
            return out.serialize_str("");
        }
        out.serialize_str(&encode(self.histogram()).map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: serde::Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        match String::deserialize(text)?.as_str() {
            "" => Ok(Self::default()),
            text => times(text).map_err(|why| serde::de::Error::custom(format!("a histogram: {why}"))),
        }
    }
}

/// The response times of a second.
///
/// # Errors
/// The mistake in the text.
pub(crate) fn of_second(text: &str) -> Result<Histogram<u64>, String> {
    decode(text, Slice::BOUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_that_is_damaged_or_of_other_bounds_is_refused() {
        let mut recorded = Times::default();
        (1..2_000).for_each(|ms| recorded.record_ns(ms * 1_000_000));
        let text = encode(recorded.histogram()).unwrap();
        assert!(decode(&text, Slice::BOUNDS).unwrap_err().contains("bounds"));
        assert!(times("???").unwrap_err().contains("base64"));
        assert!(times("").is_err() && times(&text[..text.len() / 2]).is_err());
        let other = Histogram::<u64>::new_with_bounds(1, 1 << 40, 5).unwrap();
        assert!(times(&encode(&other).unwrap()).is_err());
    }

    #[test]
    fn a_histogram_of_a_minute_is_short() {
        let mut recorded = Times::default();
        for request in 0..200_000_u64 {
            recorded.record_ns(1_000_000 + request * request % 40_000_000);
        }
        let length = encode(recorded.histogram()).unwrap().len();
        assert!(length < 30_000, "{length} characters");
    }

    proptest! {
        #[test]
        fn what_was_recorded_comes_back_bit_for_bit(ns in proptest::collection::vec(0u64..4_000_000_000_000, 0..300)) {
            let mut recorded = Times::default();
            ns.iter().for_each(|&ns| recorded.record_ns(ns));
            let back = times(&encode(recorded.histogram()).unwrap()).unwrap();
            prop_assert_eq!(back.histogram(), recorded.histogram());
            prop_assert_eq!(back.summary(), recorded.summary());
        }
    }
}
