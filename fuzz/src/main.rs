//! Coverage-guided fuzzing of one parser, which `THREADCOUNT_FUZZ_PARSER` names; without a name the parsers are listed. The arguments
//! are libFuzzer's. `./dev fuzz` calls it.

#![no_main]

mod parsers;

use libfuzzer_sys::fuzz_target;
use parsers::{PARSERS, Parser};
use std::sync::LazyLock;

static CHOSEN: LazyLock<Parser> = LazyLock::new(|| {
    let name = std::env::var("THREADCOUNT_FUZZ_PARSER").unwrap_or_default();
    match PARSERS.iter().find(|(known, _)| *known == name) {
        Some((_, parser)) => *parser,
        None => {
            PARSERS.iter().for_each(|(known, _)| println!("{known}"));
            std::process::exit(if name.is_empty() { 0 } else { 2 })
        }
    }
});

fuzz_target!(init: LazyLock::force(&CHOSEN), |bytes: &[u8]| (*CHOSEN)(bytes));
