//! Archives that are packed here as `./dev dist` packs them.

use super::manifest::{FILE, sha256};
use super::unpack::ensure;
use super::*;
use lzma_rust2::{XzOptions, XzWriter};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, symlink};

const PARTS: [(&str, &str); 2] =
    [("experiments/a.yaml", "question: q"), ("jvm/probe/target/probe.jar", "PK")];

fn manifest(files: &[(&str, &str)]) -> Manifest {
    let file = |&(path, text): &(&str, &str)| PartFile {
        path: path.to_owned(),
        bytes: text.len() as u64,
        sha256: sha256(text.as_bytes()),
    };
    Manifest {
        version: "0.1.0".to_owned(),
        commit: Some("abc".to_owned()),
        files: files.iter().map(file).collect(),
        left_out: vec!["spring-boot-4".to_owned()],
    }
}

fn archive(manifest: &Manifest, files: &[(&str, &str)]) -> Embedded {
    let text = serde_json::to_string(manifest).unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    for (path, text) in [(FILE, text.as_str())].iter().chain(files) {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    let mut xz = XzWriter::new(Vec::new(), XzOptions::default()).unwrap();
    xz.write_all(&tar.into_inner().unwrap()).unwrap();
    let archive: &'static [u8] = xz.finish().unwrap().leak();
    Embedded { archive, sha256: sha256(archive).leak() }
}

fn parts() -> Embedded {
    archive(&manifest(&PARTS), &PARTS)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|it| it != ".lock").collect();
    names.sort();
    names
}

#[test]
fn parts_are_unpacked_once_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let unpacked = ensure(&parts(), folder.path()).unwrap();
    assert_eq!(fs::read_to_string(unpacked.join("experiments/a.yaml")).unwrap(), "question: q");
    assert_eq!(names(folder.path()), [parts().folder_name()]);
    fs::write(unpacked.join("mine"), "").unwrap();
    assert_eq!(ensure(&parts(), folder.path()).unwrap(), unpacked);
    assert!(unpacked.join("mine").exists(), "nothing was unpacked again");
}

#[test]
fn a_part_that_was_changed_or_is_gone_is_unpacked_again() {
    let folder = tempfile::tempdir().unwrap();
    let unpacked = ensure(&parts(), folder.path()).unwrap();
    let jar = unpacked.join("jvm/probe/target/probe.jar");
    for damage in [|jar: &Path| fs::write(jar, "XX"), |jar: &Path| fs::remove_file(jar)] {
        damage(&jar).unwrap();
        ensure(&parts(), folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&jar).unwrap(), "PK");
        assert_eq!(names(folder.path()), [parts().folder_name()]);
    }
}

#[test]
fn a_repair_leaves_alone_what_running_experiments_use() {
    let folder = tempfile::tempdir().unwrap();
    let unpacked = ensure(&parts(), folder.path()).unwrap();
    let (intact, jar) = (unpacked.join("experiments/a.yaml"), unpacked.join("jvm/probe/target/probe.jar"));
    let built = unpacked.join("jvm/probe/target/built-here");
    fs::write(&built, "").unwrap();
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    let before = [&unpacked, &intact, &jar].map(|it| inode(it));
    let mut running = fs::File::open(&jar).unwrap();
    fs::write(&jar, "XX").unwrap();
    ensure(&parts(), folder.path()).unwrap();
    assert_eq!([&unpacked, &intact].map(|it| inode(it)), before[..2], "what is intact is not touched");
    assert!(built.exists(), "what was built beside the parts stays");
    assert_ne!(inode(&jar), before[2], "a file that is open is not written into");
    let mut text = String::new();
    running.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), fs::read_to_string(&jar).unwrap().as_str()), ("XX", "PK"));
}

#[test]
fn a_repaired_file_is_newer_than_what_was_built_of_the_damaged_one() {
    let folder = tempfile::tempdir().unwrap();
    let unpacked = ensure(&parts(), folder.path()).unwrap();
    let source = unpacked.join("experiments/a.yaml");
    fs::write(&source, "damaged").unwrap();
    let damaged_at = fs::metadata(&source).unwrap().modified().unwrap();
    ensure(&parts(), folder.path()).unwrap();
    assert!(fs::metadata(&source).unwrap().modified().unwrap() >= damaged_at);
}

#[test]
fn a_link_or_a_folder_within_the_parts_is_replaced_and_not_followed() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let unpacked = ensure(&parts(), folder.path()).unwrap();
    fs::rename(unpacked.join("jvm"), elsewhere.path().join("jvm")).unwrap();
    symlink(elsewhere.path().join("jvm"), unpacked.join("jvm")).unwrap();
    fs::remove_file(unpacked.join("experiments/a.yaml")).unwrap();
    fs::create_dir_all(unpacked.join("experiments/a.yaml/more")).unwrap();
    ensure(&parts(), folder.path()).unwrap();
    assert!(fs::symlink_metadata(unpacked.join("jvm")).unwrap().is_dir());
    assert_eq!(fs::read_to_string(unpacked.join("experiments/a.yaml")).unwrap(), "question: q");
    assert!(
        elsewhere.path().join("jvm/probe/target/probe.jar").exists(),
        "what the link led to is as it was"
    );
    assert_eq!(names(folder.path()), [parts().folder_name()]);
}

#[test]
fn a_link_in_place_of_the_parts_is_replaced_and_not_followed() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let copy = ensure(&parts(), elsewhere.path()).unwrap();
    symlink(&copy, folder.path().join(parts().folder_name())).unwrap();
    let unpacked = ensure(&parts(), folder.path()).unwrap();
    assert!(fs::symlink_metadata(unpacked).unwrap().is_dir());
    assert!(copy.join("experiments/a.yaml").exists(), "what the link led to is as it was");
}

#[test]
fn processes_that_unpack_at_once_find_one_whole_folder() {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| ensure(&parts, folder.path()).unwrap())).collect();
        for unpacked in all.into_iter().map(|it| it.join().unwrap()) {
            assert!(manifest(&PARTS).is_intact(&unpacked));
        }
    });
    assert_eq!(names(folder.path()), [parts.folder_name()]);
}

#[test]
fn what_a_process_left_that_was_ended_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".unpack-abandoned")).unwrap();
    ensure(&parts(), folder.path()).unwrap();
    assert_eq!(names(folder.path()), [parts().folder_name()]);
}

#[test]
fn a_damaged_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let good = parts();
    let mut bytes = good.archive.to_vec();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let damaged = Embedded { archive: bytes.leak(), ..good };
    let error = ensure(&damaged, folder.path()).unwrap_err();
    assert!(matches!(&error, BundleError::Damaged { expected, .. } if expected == good.sha256), "{error}");
    assert_eq!(names(folder.path()), [] as [&str; 0]);
}

#[test]
fn an_entry_that_the_manifest_does_not_name_or_that_differs_is_refused() {
    let other = [PARTS[0], ("jvm/probe/target/probe.jar", "XX")];
    let more = [PARTS[0], PARTS[1], ("jvm/more.jar", "PK")];
    for files in [&other[..], &more[..], &PARTS[..1]] {
        let folder = tempfile::tempdir().unwrap();
        assert!(ensure(&archive(&manifest(&PARTS), files), folder.path()).is_err(), "{files:?}");
        assert_eq!(names(folder.path()), [] as [&str; 0], "nothing of it stays");
    }
}

#[test]
fn the_manifest_is_read_from_the_archive() {
    assert_eq!(parts().manifest().unwrap(), manifest(&PARTS));
    assert_eq!(manifest(&PARTS).bytes(), 13);
    assert!(Manifest::read(b"no archive").is_err());
}
