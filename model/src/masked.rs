//! Secrets are in no file that people share: what stands beside a name like `password` or in the place of a URL's password becomes
//! `***`. `${NAME}` and `{secret}` are no secrets: they stand for one.

use crate::environment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

/// What stands for a secret.
pub const MASK: &str = "***";

/// How the name of a secret ends, without `-`, `_`, `.` and capitals.
const ENDINGS: [&str; 17] = [
    "pass",
    "pwd",
    "signature",
    "sessionkey",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "credential",
    "credentials",
    "authorization",
    "cookie",
];

/// Names that are those of secrets only as a whole.
const WHOLE: [&str; 5] = ["sig", "sessionid", "jwt", "auth", "xauth"];
/// Words that end in the same letters and are none.
const NO_SECRETS: [&str; 2] = ["bypass", "compass"];

/// The last word of a secret's name with several words: `SIGNING_KEY`, `GITHUB_PAT`, `db-pw`.
const LAST_WORDS: [&str; 3] = ["key", "pat", "pw"];
/// Words before `key` with which it is a name of data.
const KEYS_OF_DATA: [&str; 12] = [
    "public",
    "primary",
    "foreign",
    "sort",
    "partition",
    "routing",
    "cache",
    "idempotency",
    "group",
    "message",
    "sharding",
    "shard",
];
/// Parameters of a URL that are secrets where their value looks like one: `?key=AIzaSy...`.
const PARAMETERS: [&str; 2] = ["key", "code"];

/// Programs whose `-p` is followed by a password, with or without a blank.
const WITH_P_FLAG: [&str; 5] = ["mysql", "mysqldump", "mysqladmin", "mariadb", "sshpass"];
const P_FLAG: &str = "the password of -p";

/// Flags of programs, curl's among them, whose value is NAME:PASSWORD.
const USER_FLAGS: [&str; 2] = ["--user", "-u"];
const USER: &str = "the password of --user";

/// Names whose value has several words.
const WITH_BLANKS: [&str; 2] = ["authorization", "cookie"];

/// What was masked: the name beside each secret.
pub type Masked = BTreeSet<String>;

/// The same data with its secrets masked, in every text of it. `masked` gets their names.
///
/// Where the data is no longer of its type without them, which no kind of ours is, it is given back without any text changed.
#[must_use]
pub fn masked<T: Clone + Serialize + DeserializeOwned>(data: &T, masked: &mut Masked) -> T {
    let Ok(mut value) = serde_json::to_value(data) else { return data.clone() };
    let before = masked.len();
    let is_changed = mask(&mut value, masked);
    if !is_changed && masked.len() == before {
        return data.clone();
    }
    serde_json::from_value(value).unwrap_or_else(|_| data.clone())
}

/// Was any text changed?
fn mask(value: &mut Value, masked: &mut Masked) -> bool {
    match value {
        Value::String(text) => mask_string(text, masked),
        Value::Array(items) => {
            let mut is_changed = false;
            for at in 0..items.len() {
                let flag =
                    at.checked_sub(1).and_then(|before| items[before].as_str()).filter(|it| is_flag(it));
                let is_user = flag.is_some_and(is_user_flag);
                let name = flag.map(|name| name.trim_start_matches('-').to_owned());
                is_changed |= match (items[at].as_str().and_then(user_masked).filter(|_| is_user), name) {
                    (Some(user), _) => {
                        masked.insert(USER.to_owned());
                        items[at] = Value::String(user);
                        true
                    }
                    (None, name) => mask_named(name.as_deref(), &mut items[at], masked),
                };
            }
            is_changed
        }
        Value::Object(fields) => {
            // Not `any`: each of them.
            fields
                .iter_mut()
                .fold(false, |is_changed, (name, value)| mask_named(Some(name), value, masked) | is_changed)
        }
        _ => false,
    }
}

/// The whole of a text beside the name of a secret; `None`: it has no name beside it.
fn mask_named(name: Option<&str>, value: &mut Value, masked: &mut Masked) -> bool {
    match (name.filter(|name| is_secret(name)), value) {
        (Some(name), Value::String(text)) => {
            let is_shown = text.is_empty() || stands_for_one(text) || text == MASK;
            if !is_shown {
                masked.insert(name.to_owned());
                MASK.clone_into(text);
            }
            !is_shown
        }
        (_, value) => mask(value, masked),
    }
}

/// A name beside which a value stands in a list: of a header, or of an option.
fn is_flag(text: &str) -> bool {
    text.trim_start_matches('-')
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn mask_string(text: &mut String, masked: &mut Masked) -> bool {
    let new = text_masked(text, masked);
    let is_changed = new != *text;
    *text = new;
    is_changed
}

/// A text without the secrets in it: `password=x`, `"token": "x"`, `Cookie: a=b`, `--api-key x`, `http://me:x@host/`.
#[must_use]
pub fn text_masked(text: &str, masked: &mut Masked) -> String {
    let text = without_passwords_of_urls(text, masked);
    let mut done = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find(is_part_of_name) {
        let (before, from_name) = rest.split_at(start);
        done.push_str(before);
        let end = from_name.find(|c| !is_part_of_name(c)).unwrap_or(from_name.len());
        let (name, after) = from_name.split_at(end);
        done.push_str(name);
        rest = after;
        let is_option = name.starts_with('-');
        if let Some(behind) = password_of_p_flag(name, after, &done) {
            masked.insert(P_FLAG.to_owned());
            done.truncate(done.len() - name.len());
            done.push_str(&format!("-p{MASK}"));
            rest = behind;
            continue;
        }
        if let Some((content, behind)) = content_of_element(name, after, &done) {
            masked.insert(name.to_owned());
            done.push_str(&after[..after.len() - content.len() - behind.len()]);
            done.push_str(MASK);
            rest = behind;
            continue;
        }
        if let Some((user, behind)) = user_after(name, after) {
            masked.insert(USER.to_owned());
            done.push_str(&user);
            rest = behind;
            continue;
        }
        let is_parameter = PARAMETERS.contains(&name) && before.ends_with(['?', '&']);
        let is_named = is_secret(name.trim_matches('-'));
        let secret = (is_named || is_parameter).then(|| value_after(name, after, is_option)).flatten();
        let secret = secret.filter(|(_, value, _)| is_named || looks_random(value));
        if let Some((gap, value, behind)) = secret
            && !value.is_empty()
            && !stands_for_one(value)
            && value != MASK
        {
            masked.insert(name.trim_matches('-').to_owned());
            done.push_str(gap);
            done.push_str(MASK);
            rest = behind;
        }
    }
    done + rest
}

const fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// What is behind `-pPASSWORD` of a program that has this flag. `None`: it is none.
fn password_of_p_flag<'a>(name: &str, after: &'a str, done: &str) -> Option<&'a str> {
    let attached = name.strip_prefix("-p")?;
    let command = done.rsplit(['|', ';', '&', '\n']).next().unwrap_or(done);
    let programs = || command.split(|c: char| c.is_whitespace() || c == '/');
    programs().find(|word| WITH_P_FLAG.contains(word))?;
    let is_sshpass = programs().any(|word| word == "sshpass");
    let value = if attached.is_empty() && is_sshpass { after.trim_start_matches(' ') } else { after };
    let end = end_of(value, char::is_whitespace);
    let password = format!("{attached}{}", &value[..end]);
    let is_one = !password.is_empty() && password != MASK && !stands_for_one(&password);
    is_one.then_some(&value[end..])
}

/// The content of `<password>x</password>`, and what is behind it.
fn content_of_element<'a>(name: &str, after: &'a str, done: &str) -> Option<(&'a str, &'a str)> {
    let is_element = done.strip_suffix(name)?.ends_with(['<', ':']) && is_secret(name);
    let content = after.strip_prefix('>').filter(|_| is_element)?;
    let (content, behind) = content.split_at(content.find("</")?);
    let is_one = !content.trim().is_empty() && content != MASK && !stands_for_one(content);
    is_one.then_some((content, behind))
}

/// A long value of letters and digits: a key that a program has made, and no word or number of a person.
fn looks_random(value: &str) -> bool {
    const SHORTEST: usize = 16;
    let has = |kind: fn(&u8) -> bool| value.bytes().any(|byte| kind(&byte));
    value.len() >= SHORTEST && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)
}

/// `NAME:PASSWORD` with the password masked; `None`: it is none, as `1000:1000` (a user and a group) and a URL.
fn user_masked(text: &str) -> Option<String> {
    let (user, password) = text.split_once(':')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_shown = password.is_empty()
        || password.starts_with("//")
        || password == MASK
        || stands_for_one(password)
        || (is_number(user) && is_number(password));
    (!is_shown).then(|| format!("{user}:{MASK}"))
}

/// `--user`, `-u`, and `-su`, which is `-s -u`.
fn is_user_flag(name: &str) -> bool {
    const MOST_LETTERS: usize = 4;
    let letters = name.strip_prefix('-').and_then(|it| it.strip_suffix('u')).unwrap_or("-");
    let is_last_of_several =
        letters.len() < MOST_LETTERS && letters.bytes().all(|it| it.is_ascii_alphabetic());
    USER_FLAGS.contains(&name) || is_last_of_several
}

/// What follows `--user` or `-u`, masked, and what is behind it: `-u me:x`, `-ume:x`, `--user=me:x`.
fn user_after<'a>(name: &str, after: &'a str) -> Option<(String, &'a str)> {
    if is_user_flag(name) {
        let (gap, value, behind) = value_after(name, after, true)?;
        return Some((format!("{gap}{}", user_masked(value)?), behind));
    }
    let user = name.strip_prefix("-u").filter(|user| !user.is_empty())?;
    let end = end_of(after, char::is_whitespace);
    let masked = user_masked(&format!("{user}{}", &after[..end]))?;
    Some((masked.strip_prefix(user)?.to_owned(), &after[end..]))
}

/// What stands between a name and its value, the value, and what is behind it.
fn value_after<'a>(name: &str, after: &'a str, is_option: bool) -> Option<(&'a str, &'a str, &'a str)> {
    // `user[password]=x`, `"password": "x"`.
    let unescaped = after.strip_prefix('\\').unwrap_or(after);
    let unquoted = unescaped.strip_prefix(['"', '\'', ']']).unwrap_or(after);
    let trimmed = unquoted.trim_start_matches(' ');
    let value = match trimmed.strip_prefix(['=', ':']) {
        Some(value) => value.trim_start_matches(' '),
        None if is_option && trimmed.len() < after.len() => trimmed,
        None => return None,
    };
    let (quote, value) = match (value.chars().next(), value.strip_prefix("\\\"")) {
        (_, Some(escaped)) => (Some('\\'), escaped),
        (quote @ Some('"' | '\''), _) => (quote, &value[1..]),
        _ => (None, value),
    };
    let has_blanks = WITH_BLANKS.iter().any(|ending| plain(name).ends_with(ending));
    let is_end = |c: char| match quote {
        Some(quote) => c == quote,
        None if has_blanks => matches!(c, '\n' | '"' | '\''),
        None => c.is_whitespace() || matches!(c, '&' | ',' | ';' | '"' | '\'' | '}' | ')' | '#'),
    };
    let gap = &after[..after.len() - value.len()];
    let (value, behind) = value.split_at(end_of(value, is_end));
    Some((gap, value, behind))
}

/// `${NAME}` belongs to a value though a brace ends one.
fn end_of(value: &str, is_end: impl Fn(char) -> bool) -> usize {
    let mut in_braces = false;
    for (at, c) in value.char_indices() {
        match c {
            '{' => in_braces = true,
            '}' if in_braces => in_braces = false,
            c if is_end(c) => return at,
            _ => {}
        }
    }
    value.len()
}

/// Does the name say that its value is a secret?
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let plain = plain(name);
    let is_none = NO_SECRETS.iter().any(|it| plain.ends_with(it));
    (!is_none && ENDINGS.iter().any(|ending| plain.ends_with(ending)))
        || WHOLE.contains(&plain.as_str())
        || has_last_word(name)
}

fn has_last_word(name: &str) -> bool {
    let name = name.trim_matches('-').to_ascii_lowercase();
    let words: Vec<&str> = name.split(['-', '_', '.']).collect();
    let [.., before, last] = words[..] else { return name == "pw" };
    LAST_WORDS.contains(&last) && !(last == "key" && KEYS_OF_DATA.contains(&before))
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// It is a variable or a placeholder, and not the secret itself.
fn stands_for_one(value: &str) -> bool {
    environment::has_names(value) || value.starts_with('{') && value.ends_with('}')
}

/// `http://me:password@host/` with the password masked.
fn without_passwords_of_urls(text: &str, masked: &mut Masked) -> String {
    let mut parts = text.split("://");
    let mut done = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        done.push_str("://");
        let end =
            part.find(|c: char| c == '/' || c == '"' || c == '\'' || c.is_whitespace()).unwrap_or(part.len());
        let password =
            part[..end].rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?, host)));
        match password {
            Some(((user, password), host)) if !stands_for_one(password) && password != MASK => {
                masked.insert(format!("the password of {user} in a URL"));
                done.push_str(&format!("{user}:{MASK}@{host}{}", &part[end..]));
            }
            None if part[..end].split_once('@').is_some_and(|(token, _)| looks_random(token)) => {
                masked.insert("the token in a URL".to_owned());
                done.push_str(&format!("{MASK}{}", &part[part.find('@').unwrap_or_default()..]));
            }
            _ => done.push_str(part),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(text: &str) -> String {
        text_masked(text, &mut Masked::new())
    }

    #[test]
    fn secrets_in_texts_are_masked_where_their_name_stands_beside_them() {
        for (written, kept) in [
            ("http://me:s3cret@h:81/a", "http://me:***@h:81/a"),
            ("/a?id=7&access_token=abc&n=1", "/a?id=7&access_token=***&n=1"),
            (
                "java -Dspring.datasource.password=abc -jar a.jar",
                "java -Dspring.datasource.password=*** -jar a.jar",
            ),
            ("psql --password abc --host h", "psql --password *** --host h"),
            ("run --api-key='a b' x", "run --api-key='***' x"),
            ("Authorization: Bearer abc.def", "Authorization: ***"),
            ("Cookie: a=b; c=d", "Cookie: ***"),
            (r#"{"user": "me", "password": "a,b"}"#, r#"{"user": "me", "password": "***"}"#),
            (r#"curl -d "{\"password\":\"abc\"}" x"#, r#"curl -d "{\"password\":\"***\"}" x"#),
            ("DB_PASSWORD=abc", "DB_PASSWORD=***"),
            ("X-Api-Key: abc", "X-Api-Key: ***"),
            ("user=me&dbPassword=x", "user=me&dbPassword=***"),
            ("curl -u me:abc http://h/", "curl -u me:*** http://h/"),
            ("curl -ume:abc --user 'you:d e' x", "curl -ume:*** --user 'you:***' x"),
            ("load --user=me:abc", "load --user=me:***"),
            ("DB_PASS=abc KEYSTORE_PASS=d DB_PWD=e", "DB_PASS=*** KEYSTORE_PASS=*** DB_PWD=***"),
            ("/a?user[password]=abc&X-Amz-Signature=f", "/a?user[password]=***&X-Amz-Signature=***"),
            ("curl -su admin:abc x", "curl -su admin:*** x"),
            ("Ocp-Apim-Subscription-Key: abc", "Ocp-Apim-Subscription-Key: ***"),
            (
                "SIGNING_KEY=abc GITHUB_PAT=d x-functions-key:e",
                "SIGNING_KEY=*** GITHUB_PAT=*** x-functions-key:***",
            ),
            ("run --pw abc --db-pw=d", "run --pw *** --db-pw=***"),
            ("/a?key=AIzaSyD4e5f6g7h8&n=1", "/a?key=***&n=1"),
            ("/a?n=1&code=abcdefgh12345678==", "/a?n=1&code=***"),
            (
                "git clone https://ghp_16C7e42F292c6912E7@github.com/a/b",
                "git clone https://***@github.com/a/b",
            ),
            ("mysql -u root -psecret shop < a.sql", "mysql -u root -p*** shop < a.sql"),
            ("sshpass -p secret ssh h", "sshpass -p*** ssh h"),
            ("<a><password>abc</password></a>", "<a><password>***</password></a>"),
            ("<wsse:Password>abc</wsse:Password>", "<wsse:Password>***</wsse:Password>"),
        ] {
            assert_eq!(text(written), kept);
            assert_eq!(text(kept), kept, "a mask is not masked again");
        }
    }

    #[test]
    fn what_stands_for_a_secret_and_what_only_looks_like_one_is_shown() {
        for shown in [
            "Authorization: Bearer ${TOKEN}",
            "-Dpassword=${DB_PASSWORD} -Dx=y",
            "--password {secret} --host h",
            "http://me:${DB_PASSWORD}@h/",
            "http://h:8080/a@b:c",
            "max-tokens=10",
            "the token was refused",
            "bypass=true",
            "com.shop.TokenFilter.doFilter:57",
            "/passwords?sort=name",
            "docker run --user 1000:1000 -u 5:5 image",
            "python -u app.py -u http://h:80/ -u me: -u me:${PASSWORD} -unbuffered",
            "/cache?key=42&code=DE",
            "/cache?key=customer",
            "ssh://git@github.com/a/b",
            "partition_key=abc public-key=abc key=abc",
            "java -p8080 -port 9; mysql -p shop; java -p1",
            "<passwords>3</passwords>",
            "<password>${DB_PASSWORD}</password>",
        ] {
            assert_eq!(text(shown), shown);
        }
    }

    #[test]
    fn a_value_beside_its_name_in_a_map_or_a_list_is_masked_and_its_name_is_told() {
        let data = json!({
            "env": {"DB_PASSWORD": "abc", "WORKERS": "1", "TOKEN": "${TOKEN}"},
            "headers": [["X-Auth-Token", "abc"], ["Accept", "text/html"], ["Cookie", null]],
            "command": ["psql", "--password", "abc", "-h", "h", "--user", "me:abc", "-u", "5:5"],
            "cookies": true,
        });
        let mut names = Masked::new();
        let kept = masked(&data, &mut names);
        assert_eq!(
            kept,
            json!({
                "env": {"DB_PASSWORD": "***", "WORKERS": "1", "TOKEN": "${TOKEN}"},
                "headers": [["X-Auth-Token", "***"], ["Accept", "text/html"], ["Cookie", null]],
                "command": ["psql", "--password", "***", "-h", "h", "--user", "me:***", "-u", "5:5"],
                "cookies": true,
            })
        );
        let expected = ["DB_PASSWORD", "X-Auth-Token", "password", "the password of --user"];
        assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
    }
}
