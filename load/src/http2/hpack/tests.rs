//! The examples of RFC 7541 appendix C, and round trips.

use super::{Decoder, Encoder, HpackError, huffman, integer};
use proptest::prelude::*;

type Fields = Vec<(String, String)>;
/// A block, its fields, and the table's size after it.
type Example<'e> = (&'e str, &'e [(&'e str, &'e str)], usize);

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, HpackError> {
    let mut fields = Fields::new();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    decoder.decode(block, 65_536, |name, value| fields.push((text(name), text(value))))?;
    Ok(fields)
}

fn assert_blocks(table_bytes: Option<usize>, blocks: &[Example<'_>]) {
    let mut decoder = Decoder::new();
    table_bytes.into_iter().for_each(|bytes| decoder.table.set_max_bytes(bytes));
    for (block, fields, size) in blocks {
        let fields: Fields =
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(decode(&mut decoder, &bytes(block)).unwrap(), fields);
        assert_eq!(decoder.table.bytes(), *size, "{block}");
    }
}

#[test]
fn integers_are_those_of_appendix_c1() {
    for (value, prefix, hex) in [(10, 5, "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a")] {
        let mut out = Vec::new();
        integer::write(&mut out, 0, prefix, value);
        assert_eq!(out, bytes(hex));
        let mut rest = &out[..];
        assert_eq!((integer::read(&mut rest, prefix), rest.len()), (Some(value), 0));
    }
    for cut in ["", "1f", "1f9a", "1fffffffffff7f", "1f8080808080808000"] {
        assert_eq!(integer::read(&mut &bytes(cut)[..], 5), None, "{cut}");
    }
}

#[test]
fn single_fields_are_those_of_appendix_c2() {
    assert_blocks(
        None,
        &[("400a637573746f6d2d6b65790d637573746f6d2d686561646572", &[("custom-key", "custom-header")], 55)],
    );
    assert_blocks(None, &[("040c2f73616d706c652f70617468", &[(":path", "/sample/path")], 0)]);
    assert_blocks(None, &[("100870617373776f726406736563726574", &[("password", "secret")], 0)]);
    assert_blocks(None, &[("82", &[(":method", "GET")], 0)]);
}

const FIRST: &[(&str, &str)] =
    &[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")];
const SECOND: &[(&str, &str)] = &[
    (":method", "GET"),
    (":scheme", "http"),
    (":path", "/"),
    (":authority", "www.example.com"),
    ("cache-control", "no-cache"),
];
const THIRD: &[(&str, &str)] = &[
    (":method", "GET"),
    (":scheme", "https"),
    (":path", "/index.html"),
    (":authority", "www.example.com"),
    ("custom-key", "custom-value"),
];

#[test]
fn requests_are_those_of_appendices_c3_and_c4() {
    assert_blocks(
        None,
        &[
            ("828684410f7777772e6578616d706c652e636f6d", FIRST, 57),
            ("828684be58086e6f2d6361636865", SECOND, 110),
            ("828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", THIRD, 164),
        ],
    );
    assert_blocks(
        None,
        &[
            ("828684418cf1e3c2e5f23a6ba0ab90f4ff", FIRST, 57),
            ("828684be5886a8eb10649cbf", SECOND, 110),
            ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", THIRD, 164),
        ],
    );
}

#[test]
fn responses_with_eviction_are_those_of_appendices_c5_and_c6() {
    let (date1, date2) = ("Mon, 21 Oct 2013 20:13:21 GMT", "Mon, 21 Oct 2013 20:13:22 GMT");
    let location = ("location", "https://www.example.com");
    let private = ("cache-control", "private");
    let cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
    let first: &[_] = &[(":status", "302"), private, ("date", date1), location];
    let second: &[_] = &[(":status", "307"), private, ("date", date1), location];
    let third: &[_] = &[
        (":status", "200"),
        private,
        ("date", date2),
        location,
        ("content-encoding", "gzip"),
        ("set-cookie", cookie),
    ];
    assert_blocks(
        Some(256),
        &[
            (
                "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e\
                 1768747470733a2f2f7777772e6578616d706c652e636f6d",
                first,
                222,
            ),
            ("4803333037c1c0bf", second, 222),
            (
                "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d\
                 4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b20766572\
                 73696f6e3d31",
                third,
                215,
            ),
        ],
    );
    assert_blocks(
        Some(256),
        &[
            (
                "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b\
                 97c8e9ae82ae43d3",
                first,
                222,
            ),
            ("4883640effc1c0bf", second, 222),
            (
                "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdf\
                 cd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
                third,
                215,
            ),
        ],
    );
}

#[test]
fn what_is_no_header_block_is_refused() {
    for (block, why) in [
        ("80", "index 0"),
        ("be", "an index behind the table's end"),
        ("4001", "a string that is cut off"),
        ("8220", "a size update behind a field"),
        ("202020", "three size updates"),
        ("3fe21f", "a size above the limit"),
        ("0081ff", "padding of eight bits"),
        ("008184ff", "no value"),
        ("0084ffffffff00", "the end of a string inside it"),
        ("008100", "padding of zeros"),
    ] {
        assert_eq!(decode(&mut Decoder::new(), &bytes(block)), Err(HpackError::Malformed), "{why}");
    }
    let mut decoder = Decoder::new();
    assert!(decode(&mut decoder, &bytes("203fe11f82")).is_ok(), "0 and then 4,096");
    let many = vec![0x82; 2_000];
    assert_eq!(decode(&mut decoder, &many), Err(HpackError::TooLarge));
}

#[test]
fn the_shortest_and_the_longest_codes_are_those_of_appendix_b() {
    for (hex, text) in [
        ("07", "0"),
        ("ffc7", "\0"),
        ("f8", "&"),
        ("fffffff3", "\n"),
        ("fffffff7", "\r"),
        ("fffffffb", "\u{16}"),
    ] {
        let mut out = Vec::new();
        assert_eq!(huffman::decode(&bytes(hex), &mut out), Some(()), "{hex}");
        assert_eq!(out, text.as_bytes(), "{hex}");
    }
    assert_eq!(huffman::decode(&bytes("ffffffff"), &mut Vec::new()), None, "the end of a string");
}

#[test]
fn a_block_that_enters_nothing_means_the_same_again() {
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
    let mut write = || {
        let (version, mut block) = (encoder.version(), Vec::new());
        encoder.begin(&mut block);
        for (name, value) in [(":method", "GET"), (":path", "/a"), ("user-agent", "x"), ("b", "c")] {
            encoder.field(&mut block, name.as_bytes(), value.as_bytes(), name == "b");
        }
        (block, encoder.version() == version)
    };
    let (first, is_same) = write();
    assert!(!is_same);
    let (second, is_same) = write();
    assert!(is_same && second.len() == 3 + 5 && second.len() < first.len(), "{second:?}");
    let fields = decode(&mut decoder, &first).unwrap();
    for _ in 0..2 {
        assert_eq!(decode(&mut decoder, &second).unwrap(), fields);
    }
}

fn text() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["a", "b", "accept", ":path", "x-long-name", "", "/", "GET", ":method"])
        .prop_flat_map(|text| (Just(text), 0..40_usize))
        .prop_map(|(text, times)| text.repeat(times.min(1 + times / 8)))
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        blocks in proptest::collection::vec(
            (proptest::collection::vec((text(), text(), any::<bool>()), 0..8), 0..6_000_usize, any::<bool>()),
            1..20,
        ),
    ) {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        for (fields, bytes, resizes) in blocks {
            if resizes {
                encoder.set_max_bytes(bytes);
            }
            let mut block = Vec::new();
            encoder.begin(&mut block);
            for (name, value, varies) in &fields {
                encoder.field(&mut block, name.as_bytes(), value.as_bytes(), *varies);
            }
            let expected: Fields = fields.into_iter().map(|(name, value, _)| (name, value)).collect();
            prop_assert_eq!(decode(&mut decoder, &block), Ok(expected));
        }
    }
}
