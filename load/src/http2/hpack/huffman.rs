//! The Huffman code of HPACK (RFC 7541 appendix B). It is canonical, so the lengths of its codes define it: codes of one length are
//! consecutive, in the order of their symbols.

/// The number of bits of each symbol's code. The last symbol ends a string and is never sent.
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6,
    6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7,
    8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7,
    15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24,
    23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23,
    23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26,
    26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20,
    21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27,
    27, 27, 26, 30,
];
const SYMBOLS: usize = 257;
const END_OF_STRING: u16 = 256;
const SHORTEST: usize = 5;
const LONGEST: usize = 30;

/// The codes of one length.
#[derive(Clone, Copy)]
struct Codes {
    first: u32,
    count: u32,
    /// The index in `Table::symbols` of the first symbol with this length.
    begin: u32,
}

struct Table {
    codes: [Codes; LONGEST + 1],
    /// The symbols in the order of their codes.
    symbols: [u16; SYMBOLS],
}

static TABLE: Table = table();

const fn table() -> Table {
    let mut codes = [Codes { first: 0, count: 0, begin: 0 }; LONGEST + 1];
    let mut symbols = [0; SYMBOLS];
    let (mut length, mut next_code, mut placed) = (1, 0_u32, 0_u32);
    while length <= LONGEST {
        next_code <<= 1;
        codes[length] = Codes { first: next_code, count: 0, begin: placed };
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == length {
                symbols[placed as usize] = symbol as u16;
                placed += 1;
                next_code += 1;
                codes[length].count += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    Table { codes, symbols }
}

/// Appends the decoded string; `None` if it is not a Huffman string.
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (mut bits, mut count) = (0_u64, 0_usize);
    for &byte in bytes {
        bits = bits << 8 | u64::from(byte);
        count += 8;
        while let Some((symbol, length)) = first_symbol(bits, count) {
            if symbol == END_OF_STRING {
                return None;
            }
            out.push(symbol as u8);
            count -= length;
            bits &= (1 << count) - 1;
        }
    }
    // Fewer than eight one bits may fill the last byte (RFC 7541 section 5.2).
    (count < 8 && bits == (1 << count) - 1).then_some(())
}

/// The symbol at the beginning of `count` bits, and the number of its bits.
#[inline]
fn first_symbol(bits: u64, count: usize) -> Option<(u16, usize)> {
    for length in SHORTEST..=count.min(LONGEST) {
        let codes = TABLE.codes[length];
        let at = ((bits >> (count - length)) as u32).wrapping_sub(codes.first);
        if at < codes.count {
            return Some((TABLE.symbols[(codes.begin + at) as usize], length));
        }
    }
    None
}
