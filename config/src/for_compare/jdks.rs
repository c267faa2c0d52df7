//! `--jdk 21,25`: each variant on each JDK.

use super::error::CompareError;
use super::variant_keys::VariantKeys;

/// Multiplies the variants: `virtual-21`, `virtual-25`. Each variant is also compared with itself on the first version. A single version
/// is a key that all variants share.
pub(super) fn on_each(variants: Vec<VariantKeys>, jdks: &[u16]) -> Result<Vec<VariantKeys>, CompareError> {
    if let Some(twice) = (1..jdks.len()).find(|&place| jdks[..place].contains(&jdks[place])) {
        return Err(CompareError::JdkTwice(jdks[twice]));
    }
    if let [] | [_] = jdks {
        return Ok(variants);
    }
    let Some(first) = variants.first().map(|variant| variant.name.clone()) else { return Ok(variants) };
    let on = |name: &str, jdk: u16| format!("{name}-{jdk}");
    let each = jdks.iter().enumerate().flat_map(|(place, &jdk)| {
        let first = &first;
        variants.iter().map(move |variant| {
            let beside = (place > 0 && variant.name != *first).then(|| on(first, jdk));
            VariantKeys {
                name: on(&variant.name, jdk),
                jdk: Some(jdk),
                compare_with: variant.compare_with.as_ref().map(|other| on(other, jdk)).or(beside),
                ..variant.clone()
            }
        })
    });
    Ok(each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants() -> Vec<VariantKeys> {
        let variant = |name: &str| VariantKeys::new(name, "");
        let bounded = VariantKeys { compare_with: Some("virtual".into()), ..variant("bounded") };
        vec![variant("platform"), variant("virtual"), bounded]
    }

    #[test]
    fn one_jdk_changes_no_variant_and_two_compare_within_each() {
        assert_eq!(on_each(variants(), &[25]), Ok(variants()));
        assert_eq!(on_each(variants(), &[]), Ok(variants()));
        let two = on_each(variants(), &[21, 25]).unwrap();
        let known: Vec<_> =
            two.iter().map(|it| (it.name.as_str(), it.jdk, it.compare_with.as_deref())).collect();
        let expected = [
            ("platform-21", Some(21), None),
            ("virtual-21", Some(21), None),
            ("bounded-21", Some(21), Some("virtual-21")),
            ("platform-25", Some(25), None),
            ("virtual-25", Some(25), Some("platform-25")),
            ("bounded-25", Some(25), Some("virtual-25")),
        ];
        assert_eq!(known, expected);
        assert_eq!(on_each(variants(), &[25, 21, 25]), Err(CompareError::JdkTwice(25)));
    }
}
