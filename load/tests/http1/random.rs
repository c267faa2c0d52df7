//! Random responses, whole and damaged, against the reference.

use crate::agreement::assert_agrees;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The elements of a response, in and out of order.
const FRAGMENTS: &[&str] = &[
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.0 200 OK\r\n",
    "HTTP/1.1 204 \r\n",
    "HTTP/1.1 100\r\n",
    "HTTP/1.1 ",
    "200",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\r",
    " ",
    ":",
    ",",
    ";",
    "\0",
    "-",
    "0",
    "1",
    "3",
    "a",
    "F",
    "Content-Length",
    "content-length: ",
    "Content-Length: 3\r\n",
    "Content-Length: 1, 1\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: ",
    "chunked",
    "Connection: close\r\n",
    "Connection: ",
    "keep-alive",
    "close",
    "X: y\r\n",
    "\t",
    "\u{e9}",
    "0\r\n\r\n",
    "3\r\nabc\r\n",
    "1;x=\"y\"\r\nz\r\n",
    "abc",
];

fn soup() -> impl Strategy<Value = Vec<u8>> {
    vec(select(FRAGMENTS), 0..16).prop_map(|parts| parts.concat().into_bytes())
}

fn header() -> impl Strategy<Value = String> {
    prop_oneof![
        ("[!#$%&'*+.^_`|~A-Za-z0-9-]{1,20}", "[ -~\t\u{a0}-\u{ff}]{0,30}")
            .prop_filter("framing is added elsewhere", |(name, _)| {
                let name = name.to_ascii_lowercase();
                name != "content-length" && name != "transfer-encoding"
            })
            .prop_map(|(name, value)| format!("{name}:{value}")),
        select(vec![
            "Connection: close",
            "Connection: Keep-Alive",
            "connection: x, close",
            "Date: now",
            "Connection: x,\r\n\tclose",
            "A:\r\n b"
        ])
        .prop_map(str::to_owned),
    ]
}

fn head(status: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let version = select(vec!["HTTP/1.1", "HTTP/1.1", "HTTP/1.0"]);
    (version, status, "( [ -~]{0,12})?", vec(header(), 0..6)).prop_map(
        |(version, status, reason, headers)| {
            let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
            format!("{version} {status}{reason}\r\n{headers}")
        },
    )
}

fn chunked(body: Vec<Vec<u8>>, extension: &str, trailers: &[String]) -> Vec<u8> {
    let mut bytes = b"Transfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in body.iter().filter(|chunk| !chunk.is_empty()) {
        bytes.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n");
    bytes.extend(trailers.iter().flat_map(|trailer| format!("{trailer}\r\n").into_bytes()));
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn framed_body() -> impl Strategy<Value = Vec<u8>> {
    let chunks = vec(vec(any::<u8>(), 0..20), 0..4);
    prop_oneof![
        vec(any::<u8>(), 0..40).prop_map(|body| {
            [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat()
        }),
        (chunks, "( ?; ?[a-z]{1,5}(=\"[a-z;]*\")?)?", vec(header(), 0..3))
            .prop_map(|(body, extension, trailers)| chunked(body, &extension, &trailers)),
        Just(b"\r\n".to_vec()),
    ]
}

/// A well-formed response, except for features that HTTP/1.0 does not have.
fn answer() -> impl Strategy<Value = Vec<u8>> {
    let interim = head("10[0-9]".prop_filter("not switching", |status| status != "101"));
    let status =
        prop_oneof![Just("200".to_owned()), "[2-9][0-9]{2}", Just("204".to_owned()), Just("304".to_owned())];
    (vec(interim, 0..3), head(status), framed_body()).prop_map(|(interim, head, body)| {
        let interim: String = interim.iter().map(|head| format!("{head}\r\n")).collect();
        [interim.as_bytes(), head.as_bytes(), &body].concat()
    })
}

#[derive(Clone, Debug)]
enum Damage {
    Cut,
    Replace(u8),
    Insert(&'static str),
    Remove(usize),
    Repeat(usize),
}

fn damage() -> impl Strategy<Value = (Damage, prop::sample::Index)> {
    let kind = prop_oneof![
        Just(Damage::Cut),
        prop_oneof![any::<u8>(), select(b"\r\n :\t;,-+0159afx\0".to_vec())].prop_map(Damage::Replace),
        select(FRAGMENTS).prop_map(Damage::Insert),
        (1_usize..8).prop_map(Damage::Remove),
        (1_usize..24).prop_map(Damage::Repeat),
    ];
    (kind, any::<prop::sample::Index>())
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage, place: &prop::sample::Index) {
    let at = place.index(bytes.len() + 1);
    match damage {
        Damage::Cut => bytes.truncate(at),
        Damage::Replace(byte) => bytes.iter_mut().skip(at).take(1).for_each(|old| *old = *byte),
        Damage::Insert(text) => drop(bytes.splice(at..at, text.bytes())),
        Damage::Remove(count) => drop(bytes.drain(at..(at + count).min(bytes.len()))),
        Damage::Repeat(count) => {
            let again = bytes[at..(at + count).min(bytes.len())].to_vec();
            bytes.splice(at..at, again);
        }
    }
}

fn damaged_answer() -> impl Strategy<Value = Vec<u8>> {
    (answer(), vec(damage(), 1..4)).prop_map(|(mut bytes, damages)| {
        for (damage, place) in &damages {
            apply(&mut bytes, damage, place);
        }
        bytes
    })
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    vec(any::<prop::sample::Index>(), 0..5)
}

proptest! {
    // PROPTEST_CASES can increase the number of cases.
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(2000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whole_answers_are_read_as_the_reference_reads_them(
        bytes in answer(), follows in soup(), is_head: bool, cuts in cuts()
    ) {
        let bytes = [bytes, follows].concat();
        assert_agrees(&bytes, is_head, pieces(&bytes, &cuts));
    }

    #[test]
    fn damaged_answers_are_read_as_the_reference_reads_them(
        bytes in damaged_answer(), is_head: bool, cuts in cuts()
    ) {
        assert_agrees(&bytes, is_head, pieces(&bytes, &cuts));
    }

    #[test]
    fn any_mixture_is_read_as_the_reference_reads_it(bytes in soup(), is_head: bool, cuts in cuts()) {
        assert_agrees(&bytes, is_head, pieces(&bytes, &cuts));
    }
}
