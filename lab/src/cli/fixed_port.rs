//! Finds ports that are fixed in the commands of `compare`.

use threadcount_model::figures;
use threadcount_servers::http_get::BaseUrl;
use threadcount_servers::placeholders::PORT;

/// A warning that names the fixed ports of the commands, or the port of the URL if no command contains it. `None` if each server gets a
/// free port.
pub(super) fn warning(commands: &[(String, String)], urls: &[String]) -> Option<String> {
    let url = urls.first().filter(|url| !url.contains(PORT))?;
    let port = BaseUrl::parse(url).ok()?.port;
    let without = || commands.iter().filter(|(_, command)| !command.contains(PORT));
    let named: Vec<String> = without()
        .filter_map(|(name, command)| Some(format!("`{}` of {name}", fixed_port(command, port)?)))
        .collect();
    let place = if named.is_empty() { format!("port {port} of --url") } else { figures::listed(&named) };
    (without().count() > 0).then(|| {
        let verb = if named.len() > 1 { "are fixed ports" } else { "is a fixed port" };
        format!(
            "{place} {verb}: each run waits for it, and fails where another process has it. Write {{port}} there and in --url, and each run \
             gets a free one"
        )
    })
}

/// The words of a command that set this port, or any port by a flag with `port` in its name.
fn fixed_port(command: &str, port: u16) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let before = at.checked_sub(1).map(|before| words[before]).filter(|it| it.starts_with('-'));
        let (flag, value) = word.rsplit_once(['=', ':']).unwrap_or((before.unwrap_or_default(), word));
        let number: u16 = value.trim_matches(['"', '\'']).parse().ok()?;
        let is_port =
            number == port || flag.to_ascii_lowercase().trim_end_matches(['=', ':']).ends_with("port");
        let shown =
            if value.len() == word.len() { before.map(|flag| format!("{flag} {word}")) } else { None };
        is_port.then(|| shown.unwrap_or_else(|| (*word).to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(command: &str, url: &str) -> Option<String> {
        let commands =
            [("a", command), ("b", "./b {port}")].map(|(name, it)| (name.to_owned(), it.to_owned()));
        warning(&commands, &[url.to_owned()])
    }

    #[test]
    fn a_fixed_port_is_named_as_it_was_written_and_a_free_one_is_none() {
        let url = "http://127.0.0.1:8080/orders/1";
        for (command, named) in [
            ("java -Xmx512m -jar a.jar --server.port=8080", "`--server.port=8080` of a is a fixed port"),
            ("./a -p 8080", "`-p 8080` of a is a fixed port"),
            ("./a --port 9090", "`--port 9090` of a is a fixed port"),
            ("./a -Dhttp.port=9090 -Xss1024", "`-Dhttp.port=9090` of a is a fixed port"),
            ("./a 127.0.0.1:8080", "`127.0.0.1:8080` of a is a fixed port"),
            ("./a --threads 200", "port 8080 of --url is a fixed port"),
        ] {
            let warning = warned(command, url).unwrap();
            assert!(warning.starts_with(named), "{warning}");
        }
        assert_eq!(warned("./a -p {port} --threads 200", url), None);
        assert_eq!(warned("./a -p 8080", "http://127.0.0.1:{port}/"), None, "another message refuses it");
    }
}
