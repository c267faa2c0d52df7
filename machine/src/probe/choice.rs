//! The probe's argument: where it writes, and what it does.

pub use threadcount_model::experiment::ProbeLevel as ProbeChoice;

use std::path::Path;

/// The probe's name for the level [`ProbeChoice::Light`].
pub const LIGHT: &str = "light";

/// The destination of the probe's lines.
#[derive(Clone, Copy, Debug)]
pub enum Out<'a> {
    /// A file, which is written until the JVM ends.
    File(&'a Path),
    /// A listening Unix socket, which is written until its reader closes it.
    Socket(&'a Path),
}

/// The agent's argument, as `jvm/probe`'s `Options` reads it. Paths are percent-encoded, so that no folder's name can be confused with the
/// probe's commas or the words of `jcmd`.
#[must_use]
pub fn agent_argument(out: Out<'_>, level: &str, recording: Option<&Path>) -> String {
    let (kind, path) = match out {
        Out::File(path) => ("file", path),
        Out::Socket(path) => ("unix", path),
    };
    let recording = recording.map(|path| format!(",jfr={}", encoded(path))).unwrap_or_default();
    format!("out={kind}:{},level={level}{recording}", encoded(path))
}

/// A path, percent-encoded as a value of the agent's argument.
#[must_use]
pub fn encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let encode = |&byte: &u8| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    path.as_os_str().as_bytes().iter().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_commas_and_spaces_stays_one_value() {
        let argument = agent_argument(Out::File(Path::new("/out, mine/a+b")), LIGHT, Some(Path::new("/é")));
        assert_eq!(argument, "out=file:/out%2C%20mine/a%2Bb,level=light,jfr=/%C3%A9");
    }
}
