//! Inputs that fuzzing kept or found. The parsers must take them without a panic, in bounded time and memory.

#[path = "../../../fuzz/src/parsers.rs"]
mod parsers;

use parsers::PARSERS;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Limits of this process, which runs one test. The kernel ends a process that exceeds them.
const MOST_CPU_S: u64 = 60;
const MOST_MEMORY_BYTES: u64 = 2 << 30;

#[test]
fn each_seed_of_each_parser_is_read_or_refused_in_bounded_time_and_memory() {
    for (resource, most) in [(Resource::Cpu, MOST_CPU_S), (Resource::As, MOST_MEMORY_BYTES)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).unwrap();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let folders: BTreeSet<String> =
        fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    let names: BTreeSet<String> = PARSERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(folders, names, "each parser has its seeds");
    for (name, parser) in PARSERS {
        for file in fs::read_dir(folder.join(name)).unwrap() {
            let file = file.unwrap().path();
            println!("{}", file.display());
            parser(&fs::read(&file).unwrap());
        }
    }
}
