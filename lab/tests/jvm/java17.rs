//! Pretends that a JVM is a Java that Threadcount supports only in part.

use std::fs;

/// Makes a JVM's performance data say that it is a Java 17. The file is the JVM's own memory, and contains the version as text.
pub fn pretend(jvm: u32) {
    let folders = fs::read_dir("/tmp").unwrap().map(|it| it.unwrap());
    let mut user_folders = folders.filter(|it| it.file_name().to_string_lossy().starts_with("hsperfdata_"));
    let file = user_folders.find_map(|it| Some(it.path().join(jvm.to_string())).filter(|it| it.is_file()));
    let file = file.expect("performance data");
    let mut data = fs::read(&file).unwrap();
    let places: Vec<usize> = (0..data.len()).filter(|&at| data[at..].starts_with(b"\x0025.")).collect();
    assert!(places.len() >= 2, "`java.version` and `java.vm.version`");
    let open = fs::OpenOptions::new().write(true).open(&file).unwrap();
    for at in places {
        data[at + 1..at + 3].copy_from_slice(b"17");
        std::os::unix::fs::FileExt::write_all_at(&open, b"17", at as u64 + 1).unwrap();
    }
}
