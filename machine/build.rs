//! Sets `has_bundle` where `./dev dist` has packed the parts that travel in the program, and says which commit this is.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_bundle)");
    // Watches the folder rather than the archive: a missing file would make every build start from scratch.
    println!("cargo::rerun-if-changed=bundle");
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    if Path::new(&package).join("bundle/parts.tar.xz").is_file() {
        println!("cargo::rustc-cfg=has_bundle");
    }
}
