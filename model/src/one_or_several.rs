//! A list that older results have as a single value, or as none.

use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrSeveral<T> {
    Several(Vec<T>),
    One(T),
}

/// Reads a list, a single value as a list of one, and `null` as an empty list.
pub fn one_or_several<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(match Option::<OneOrSeveral<T>>::deserialize(from)? {
        None => Vec::new(),
        Some(OneOrSeveral::One(one)) => vec![one],
        Some(OneOrSeveral::Several(several)) => several,
    })
}
