//! Made-up folders that look like JDKs, and jars, for tests.

#![allow(clippy::unwrap_used, reason = "it is for tests")]

use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Creates a folder that looks like a JDK: with this `release`, and with scripts as `programs` in bin.
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

/// A `release` file for this version.
pub fn jdk_release(version: &str) -> String {
    format!("IMPLEMENTOR=\"Maker\"\nJAVA_RUNTIME_VERSION=\"{version}\"\nJAVA_VERSION=\"x\"\n")
}

/// A jar with these files, every second one compressed.
pub fn jar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    for (place, (name, content)) in files.iter().enumerate() {
        let method = if place % 2 == 0 { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        jar.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        jar.write_all(content).unwrap();
    }
    jar.finish().unwrap().into_inner()
}
