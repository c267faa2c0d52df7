//! For tests: folders that look like JDKs, and jars.

#![allow(clippy::unwrap_used, reason = "it is for tests")]

use crate::jar_file::{DEFLATED, END, ENTRY, HEADER, STORED};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A folder that looks like a JDK: `release` as given, `programs` in bin that are scripts.
pub fn made_up_jdk(home: &Path, release: Option<&str>, programs: &[(&str, &str)]) {
    fs::create_dir_all(home.join("bin")).unwrap();
    if let Some(release) = release {
        fs::write(home.join("release"), release).unwrap();
    }
    for (name, script) in programs {
        let path = home.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A release file of this version.
pub fn jdk_release(version: &str) -> String {
    format!("IMPLEMENTOR=\"Maker\"\nJAVA_RUNTIME_VERSION=\"{version}\"\nJAVA_VERSION=\"x\"\n")
}

/// A jar with these files, every second one compressed.
pub fn jar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for (place, (name, content)) in files.iter().enumerate() {
        let method = if place % 2 == 0 { STORED } else { DEFLATED };
        let packed = if method == STORED { content.to_vec() } else { deflated(content) };
        let name_bytes = name.len() as u16;
        let header_at = body.len() as u32;
        body.extend(HEADER.0);
        body.extend([20, 0, 0, 0]);
        body.extend(method.to_le_bytes());
        body.extend([0; 8]);
        let sizes = [packed.len() as u32, content.len() as u32].map(u32::to_le_bytes).concat();
        body.extend(&sizes);
        body.extend(name_bytes.to_le_bytes());
        // An extra field that only the header has.
        body.extend(4_u16.to_le_bytes());
        body.extend(name.as_bytes());
        body.extend([1, 0, 0, 0]);
        body.extend(packed);
        directory.extend(ENTRY.0);
        directory.extend([20, 0, 20, 0, 0, 0]);
        directory.extend(method.to_le_bytes());
        directory.extend([0; 8]);
        directory.extend(sizes);
        directory.extend(name_bytes.to_le_bytes());
        directory.extend([0; 12]);
        directory.extend(header_at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (at, bytes) = (body.len() as u32, directory.len() as u32);
    body.extend(directory);
    body.extend(END.0);
    body.extend([0; 8]);
    body.extend([bytes, at].map(u32::to_le_bytes).concat());
    body.extend([0; 2]);
    body
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
