//! The random numbers of a load. Each purpose has a stream of its own on each thread, so that the streams are independent.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// The use of a stream of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The gaps of Poisson arrivals.
    Arrivals = 1,
    /// The choice of the next request, by weight.
    Order = 2,
    /// The values of `{rand:..}`.
    Values = 3,
}

/// The stream of one thread for one purpose. The same seed gives the same numbers.
pub(crate) fn stream(seed: u64, purpose: Purpose, thread: u32) -> Xoshiro256PlusPlus {
    let mut bytes = [0; 32];
    let words = [seed, purpose as u64, u64::from(thread), 0];
    for (place, word) in bytes.chunks_exact_mut(8).zip(mixed(words)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    Xoshiro256PlusPlus::from_seed(bytes)
}

/// Spreads the words over the whole state: each result depends on the word itself and on all words before it (SplitMix64: Steele, Lea,
/// Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
fn mixed(words: [u64; 4]) -> [u64; 4] {
    let mut state = 0_u64;
    let mut absorb = |word: u64| {
        state = state.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state = mixed ^ (mixed >> 31);
        state
    };
    // All words are absorbed before the first result is produced.
    words.iter().for_each(|&word| {
        absorb(word);
    });
    [absorb(1), absorb(2), absorb(3), absorb(4)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use std::collections::BTreeSet;

    fn first(seed: u64, purpose: Purpose, thread: u32) -> u64 {
        stream(seed, purpose, thread).random()
    }

    #[test]
    fn seeds_purposes_and_threads_all_have_streams_of_their_own() {
        let mut seen = BTreeSet::new();
        for seed in 0..20 {
            for thread in 0..20 {
                for purpose in [Purpose::Arrivals, Purpose::Order, Purpose::Values] {
                    assert!(seen.insert(first(seed, purpose, thread)), "{seed} {purpose:?} {thread}");
                }
            }
        }
        assert_eq!(first(7, Purpose::Order, 3), first(7, Purpose::Order, 3));
    }
}
