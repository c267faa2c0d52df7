//! SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): small, good enough to draw runs
//! with, and the same forever, so that a result always gives the same intervals.

/// A stream of pseudorandom numbers.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number below `end`; all numbers are equally likely (but for 1 in 2^32).
    pub fn below(&mut self, end: usize) -> usize {
        (((self.bits() >> 32) * end as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_splitmix64_as_published() {
        // The first outputs for the seed 1234567, as in the reference implementation by Sebastiano Vigna.
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_below_an_end_are_all_drawn_alike() {
        let mut random = SplitMix64(1);
        let mut drawn = [0_u32; 5];
        for _ in 0..50_000 {
            drawn[random.below(5)] += 1;
        }
        assert!(drawn.iter().all(|count| (9_600..10_400).contains(count)), "{drawn:?}");
    }
}
