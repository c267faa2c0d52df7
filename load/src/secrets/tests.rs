use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

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
        (r#"curl -d "{\"password\":\"abc\"}" x"#, r#"curl -d "{\"password\":\"***\"}" x"#),
        ("DB_PASSWORD=abc", "DB_PASSWORD=***"),
        ("X-Api-Key: abc", "X-Api-Key: ***"),
        ("user=me&dbPassword=x", "user=me&dbPassword=***"),
        ("curl -u me:abc http://h/", "curl -u me:*** http://h/"),
        ("curl -ume:abc --user 'you:d e' x", "curl -ume:*** --user 'you:***' x"),
        ("load --user=me:abc", "load --user=me:***"),
        ("curl --proxy-user me:abc x", "curl --proxy-user me:*** x"),
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
        ("git clone https://ghp_16C7e42F292c6912E7@github.com/a/b", "git clone https://***@github.com/a/b"),
        ("mysql -u root -psecret shop < a.sql", "mysql -u root -p*** shop < a.sql"),
        ("mysql -p'a b' shop", "mysql -p*** shop"),
        ("sshpass -p secret ssh h", "sshpass -p *** ssh h"),
        ("sshpass -p 'a b' ssh h", "sshpass -p *** ssh h"),
        ("docker login -u me -p abc r.io", "docker login -u me -p *** r.io"),
        ("redis-cli -a abc ping", "redis-cli -a *** ping"),
        ("<a><password>abc</password></a>", "<a><password>***</password></a>"),
        ("<wsse:Password>abc</wsse:Password>", "<wsse:Password>***</wsse:Password>"),
        (r#"<password type="x">abc</password>"#, r#"<password type="x">***</password>"#),
        (r#"<property name="password" value="abc"/>"#, r#"<property name="password" value="***"/>"#),
    ] {
        assert_eq!(text(written), kept);
        assert_eq!(text(kept), kept, "a mask is not masked again");
    }
    for written in ["<password ==>x", "-uCookie:[\""] {
        let kept = text(written);
        assert_eq!(text(&kept), kept);
    }
}

#[test]
fn a_value_is_masked_to_its_end() {
    for (written, kept) in [
        ("--password=Ab#1,x --host h", "--password=*** --host h"),
        ("--password=a'b c'd --host h", "--password=*** --host h"),
        (r#"x "password":"a\"b" y"#, r#"x "password":"***" y"#),
        (r#"Authorization: Digest username="me", response="abc""#, "Authorization: ***"),
        (r#"Cookie: a="b c"; d=e"#, "Cookie: ***"),
        (r#"curl -H "Cookie: a=b; c=d" http://h/"#, r#"curl -H "Cookie: ***" http://h/"#),
        (r#"curl -d "user=me&password=abc" -H "A: b""#, r#"curl -d "user=me&password=***" -H "A: b""#),
        ("{password=a b, user=me}", "{password=***, user=me}"),
        ("User(name=me, password=a,b)", "User(name=me, password=***)"),
        ("user: me\npassword: a b # c\nhost: h", "user: me\npassword: ***\nhost: h"),
        ("password: |\n  abc\n  def\nhost: h", "password: ***\nhost: h"),
        ("password:\n  value: abc\nhost: h", "password:***\nhost: h"),
        (r#"cut {"password":["x","y"],"#, r#"cut {"password":"***","#),
        (r#"cut {"password":123,"user":"me"#, r#"cut {"password":"***","user":"me"#),
        (r#"cut {"password":"abc"#, r#"cut {"password":"***"#),
        ("Cookie: sid=abc; t=${T}", "Cookie: ***"),
        ("password=abc${PASSWORD}", "password=***"),
    ] {
        assert_eq!(text(written), kept);
    }
}

#[test]
fn a_value_in_a_line_of_a_log_is_masked_to_its_plain_end_and_else_to_the_end_of_the_line() {
    for (written, kept) in [
        (
            "Access denied for user 'me'@'h' (using password: YES)",
            "Access denied for user 'me'@'h' (using password: ***)",
        ),
        (
            "x.Refused: password: wrong horse at com.shop.Login.check(Login.java:57)",
            "x.Refused: password: *** at com.shop.Login.check(Login.java:57)",
        ),
        (
            r"x.Refused: password: wrong\n\tat com.shop.Login.check(Login.java:57)",
            r"x.Refused: password: ***\n\tat com.shop.Login.check(Login.java:57)",
        ),
        ("refused: token: a1 c, user: me, ip=10.0.0.1", "refused: token: ***, user: me, ip=10.0.0.1"),
        ("refused {token: a1, user: me}", "refused {token: ***, user: me}"),
        ("WARN token: 'a1', user: 'me'", "WARN token: ***, user: 'me'"),
        ("bad password: 'wr ong' for user me", "bad password: '***' for user me"),
        ("password: \"a b\" # of the database", "password: \"***\" # of the database"),
        ("[main] WARN [login: bad token: abc] retry", "[main] WARN [login: bad token: ***] retry"),
        (
            "refused, password:\n    at com.shop.Login.check(Login.java:57)",
            "refused, password:\n    at com.shop.Login.check(Login.java:57)",
        ),
        // No end is plain.
        ("WARN password: correct horse, battery staple", "WARN password: ***"),
        ("WARN password: correct horse user=me", "WARN password: ***"),
        ("password: correct, horse: battery", "password: ***"),
        ("WARN (with password: a) b)", "WARN (with password: ***"),
        ("WARN (with password: a)b", "WARN (with password: ***"),
        ("WARN password: at home (here)", "WARN password: ***"),
        ("WARN password: \"a\" \"b\"", "WARN password: ***"),
        ("WARN password: \"a\"b", "WARN password: ***"),
        (r#"WARN Authorization: Digest username="me", response="abc""#, "WARN Authorization: ***"),
        ("WARN Cookie: \"a\" b", "WARN Cookie: ***"),
        ("x.Refused: tokens: ci=abc, deploy=def", "x.Refused: tokens: ***"),
        ("x.Refused: tokens: abc, deploy=def", "x.Refused: tokens: ***"),
        ("x.Refused: tokens_by_user: abc, deploy=def", "x.Refused: tokens_by_user: ***"),
        ("x.Refused (tokens: ci=abc, deploy=def)", "x.Refused (tokens: ***)"),
        ("x.Refused: token: ci=abc, deploy=def", "x.Refused: token: ***"),
        ("x.Refused: token: ci:abc, deploy=def", "x.Refused: token: ***"),
        ("login failed, passwords: alice=a, bob=b", "login failed, passwords: ***"),
        (r#"WARN x-auth: Digest username="me", realm="r", response="abc""#, "WARN x-auth: ***"),
        ("WARN x-auth: digest abc, response=def", "WARN x-auth: ***"),
        ("< X-Token: a, b=c", "< X-Token: ***"),
        ("# password: a, b=c", "# password: ***"),
        (" * password: a, b=c", " * password: ***"),
        (r#"curl -H "X-Token: a, b=c" http://h/"#, r#"curl -H "X-Token: ***" http://h/"#),
        (r#"2026-11-27 {"msg":"bad password: x7}.Qw9"}"#, r#"2026-11-27 {"msg":"bad password: ***"}"#),
        (r#"1 {"m":"{\"n\":\"bad password: x7} Qw9"#, r#"1 {"m":"{\"n\":\"bad password: ***"#),
        ("WARN (with password: a).b", "WARN (with password: ***"),
        ("WARN (with password: a),b", "WARN (with password: ***"),
        ("WARN secret: \"abc\" + \"def\"", "WARN secret: ***"),
        ("tried passwords: 'winter' and 'summer'", "tried passwords: ***"),
        ("tried passwords: 'winter', 'summer'", "tried passwords: ***"),
        ("tried passwords: 'winter', summer=x", "tried passwords: ***"),
        ("tried passwords: [winter], summer=x", "tried passwords: ***"),
        ("password:[a]<b", "password:***"),
        (r#"1 {"m":"tried passwords: 'winter' and 'summer'"}"#, r#"1 {"m":"tried passwords: ***"}"#),
        (r#"1 {"m":"secret: \"abc\" + \"def\""}"#, r#"1 {"m":"secret: ***"}"#),
        ("refused, password:\n    at home", "refused, password:***"),
    ] {
        assert_eq!(text(written), kept);
    }
}

#[test]
fn what_stands_for_a_secret_and_what_only_looks_like_one_is_shown() {
    for shown in [
        "Authorization: Bearer ${TOKEN}",
        "Cookie: sid=${SID}; t={seq:1}",
        "-Dpassword=${DB_PASSWORD} -Dx=y",
        "--password {secret} --host h",
        "http://me:${DB_PASSWORD}@h/",
        "http://h:8080/a@b:c",
        "http://h:80?m=a@b",
        "max-tokens=10",
        "token-ttl=30s",
        "the token was refused",
        "bypass=true",
        "com.shop.TokenFilter.doFilter:57",
        "at com.shop.TokenFilter.doFilter(TokenFilter.java:57)",
        "BadCredentialsException: Bad credentials",
        "/passwords?sort=name",
        "docker run --user 1000:1000 -u 5:5 image",
        "python -u app.py -u http://h:80/ -u me: -u me:${PASSWORD} -unbuffered",
        "/cache?key=42&code=DE",
        "/cache?key=customer",
        "ssh://git@github.com/a/b",
        "partition_key=abc public-key=abc key=abc",
        "java -p8080 -port 9; mysql -p shop; java -p1",
        "java -cp mysql-connector.jar -port 9",
        "docker run -p 80:80 image",
        "<passwords>3</passwords>",
        "<password>${DB_PASSWORD}</password>",
        r#"{"max_tokens": 10, "password": null}"#,
    ] {
        assert_eq!(text(shown), shown);
    }
}

#[test]
fn json_stays_json_and_every_value_below_the_name_of_a_secret_is_masked() {
    let written = json!({
        "password": ["x", {"value": "y", "n": 4}],
        "pin": {"secret": 12},
        "env": [{"name": "DB_PASSWORD", "value": "z"}, {"name": "HOST", "value": "h"}],
        "headers": [["Authorization", "Bearer a"], ["Accept", "b"]],
        "nested": "{\"d\": 1, \"token\": \"c\"}",
    });
    let kept: Value = serde_json::from_str(&text(&written.to_string())).unwrap();
    assert_eq!(
        kept,
        json!({
            "password": ["***", {"value": "***", "n": "***"}],
            "pin": {"secret": "***"},
            "env": [{"name": "DB_PASSWORD", "value": "***"}, {"name": "HOST", "value": "h"}],
            "headers": [["Authorization", "***"], ["Accept", "b"]],
            "nested": "{\"d\":1,\"token\":\"***\"}",
        })
    );
}

#[test]
fn the_words_of_a_command_hide_what_follows_a_flag() {
    let command = |words: &[&str]| {
        let mut value = json!(words);
        masked_value(&mut value, false, &mut Masked::new());
        value
    };
    assert_eq!(command(&["sshpass", "-p", "abc", "ssh", "h"]), json!(["sshpass", "-p", "***", "ssh", "h"]));
    assert_eq!(command(&["/usr/bin/mysql", "-pabc", "shop"]), json!(["/usr/bin/mysql", "-p***", "shop"]));
    assert_eq!(command(&["podman", "login", "-p", "a b"]), json!(["podman", "login", "-p", "***"]));
    assert_eq!(command(&["srv", "--password=Ab#1, x&y"]), json!(["srv", "--password=***"]));
    assert_eq!(command(&["curl", "--proxy-user", "me:x"]), json!(["curl", "--proxy-user", "me:***"]));
    for shown in [&["docker", "run", "-p", "80:80"][..], &["java", "-p", "mods"], &["mysql", "-p", "shop"]] {
        assert_eq!(command(shown), json!(shown));
    }
}

const NAMES: [&str; 12] = [
    "password",
    "DB_PASSWORD",
    "dbPassword",
    "PASSWORD2",
    "password_confirmation",
    "client-secret",
    "SECRET_KEY_BASE",
    "accessToken",
    "X-Session-Id",
    "signingKey",
    "credentials",
    "AccountKey",
];

/// What is found again if any part of the secret stays: both halves of it are random.
fn secret() -> impl Strategy<Value = String> {
    "Zq[a-z0-9]{6}[ -~]{0,3}[a-z]Wx[a-z0-9]{6}"
}

/// One with what ends a value in a line of a log, and its free part.
fn secret_in_a_line() -> impl Strategy<Value = (String, String)> {
    let free = prop_oneof![
        "[ -~]{0,12}",
        "[ab ,:=.(){}\\[\\]\"'\\\\]{0,12}",
        "(, a|, b: |=|: |\\)|\\(| |\"|'|}|\\{){0,6}"
    ];
    ("Zq[a-z0-9]{6}", free, "[a-z]Wx[a-z0-9]{6}")
        .prop_map(|(first, free, last)| (format!("{first}{free}{last}"), free))
}

/// Where the value of a secret's name ends, its line going on: before the next name of a list, if the value has no sign of its own and
/// the name is of one thing; at a bracket that was opened before the name, if what follows it has brackets of its own; before a frame.
fn may_end_in(free: &str, name: &str) -> bool {
    let is_before_a_name = |at: usize| {
        let next = free[at + 1..].trim_start();
        let behind = next.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_.".contains(c));
        behind.len() < next.len() && (behind.starts_with('=') || behind.starts_with(": "))
    };
    let mut commas = free.match_indices(", ").map(|(at, _)| at);
    let in_list = commas.find(|&at| is_before_a_name(at)).is_some_and(|at| !free[..at].contains(['=', ':']));
    let at_bracket = free.find(')').is_some_and(|at| free[at..].contains('('));
    (in_list && !name.ends_with('s')) || at_bracket || free.contains("at ")
}

/// A secret that may stand without quotes.
fn secret_word() -> impl Strategy<Value = String> {
    "Zq[a-z0-9]{6}[!#$%*+,./:=?@^_~-]{0,3}[a-z]Wx[a-z0-9]{6}"
}

fn in_shell_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[test]
fn a_quote_inside_of_a_word_of_the_shell_does_not_end_it() {
    for name in NAMES {
        for secret in [
            "Zq00a000'&aWx00aa00",
            "Zq000aaa\\'\"aWxaa0a0a",
            "Zqa00a00\\';aWx000000",
            "Zq00a000'; aWx00aa00",
            "Zq00a000' | 'aWx00aa00",
        ] {
            for written in [
                format!("srv --{name}={} -x", in_shell_quotes(secret)),
                format!("srv --{name} {} -x", in_shell_quotes(secret)),
            ] {
                let kept = text(&written);
                assert!(has_no_part(&kept, secret), "{written}\n{kept}");
            }
        }
    }
}

/// An address is none under some names.
fn is_secret(name: &str, value: &str) -> bool {
    names::kind(name) == names::NameKind::Secret || !value.contains("://")
}

/// Neither half of a secret is in the text.
fn has_no_part(text: &str, secret: &str) -> bool {
    let (first, last) = (&secret[..8], &secret[secret.len() - 8..]);
    !text.contains(first) && !text.contains(last)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_secret_under_the_name_of_one_is_shown(
        name in prop::sample::select(&NAMES[..]), secret in secret(), word in secret_word(), number in 0..1_000_000_u32,
    ) {
        prop_assume!(is_secret(name, &secret) && is_secret(name, &word));
        let quoted = serde_json::to_string(&secret).unwrap();
        let shell = in_shell_quotes(&secret);
        for (written, secret) in [
            (format!("GET /a?x=1&{name}={word}&y=2"), &word),
            (format!("{name}={word} HOST=h"), &word),
            (format!("java -D{name}={word} -jar a.jar"), &word),
            (format!("srv --{name} {word} -x"), &word),
            (format!("srv --{name}={shell} -x"), &secret),
            (format!("srv --{name} {shell} -x"), &secret),
            (format!("{name}: {secret}\nhost: h"), &secret),
            (format!("{name}: {quoted}\nhost: h"), &secret),
            (format!("x.Refused: bad {name}: {quoted} at a.B.c(D.java:5)"), &secret),
            (format!("a:\n  {name}: |\n    {secret}\n  host: h"), &secret),
            (format!("cut {{\"a\": 1, \"{name}\": {quoted}, \"b"), &secret),
            (format!("<{name}>{}</{name}>", secret.replace('<', "&lt;")), &secret),
        ] {
            let kept = text(&written);
            prop_assert!(has_no_part(&kept, secret), "{written}\n{kept}");
        }
        for mut value in [
            json!({name: secret, "n": number}),
            json!({name: [secret, {"value": secret}]}),
            json!({"name": name, "value": secret}),
            json!([["srv", format!("--{name}"), secret], ["srv", format!("--{name}={secret}")]]),
            json!([[name, secret], [format!("-D{name}={secret}"), format!("{name}={secret}")]]),
            json!({"body": json!({name: secret}).to_string()}),
        ] {
            let kept = text(&value.to_string());
            prop_assert!(has_no_part(&kept, &secret), "{value}\n{kept}");
            let read: Value = serde_json::from_str(&kept).unwrap();
            masked_value(&mut value, true, &mut Masked::new());
            prop_assert_eq!(value, read);
        }
    }

    #[test]
    fn a_secret_in_a_line_of_a_log_is_shown_only_behind_a_plain_end(
        name in prop::sample::select(&NAMES[..]), (secret, free) in secret_in_a_line(),
    ) {
        prop_assume!(is_secret(name, &secret));
        let (first, last) = (&secret[..8], &secret[secret.len() - 8..]);
        let message = format!("bad {name}: {secret}");
        for written in [
            format!("x.Refused: {message}"),
            format!("x.Refused ({message})"),
            format!("1 {}", json!({"m": message})),
            format!("{name}: {secret}\nhost: h"),
            format!("< {name}: {secret}\n< host: h"),
            format!("x.Refused: bad {name}: {}", in_shell_quotes(&secret)),
        ] {
            let kept = text(&written);
            prop_assert!(!kept.contains(first), "{written}\n{kept}");
            let may_end = written.contains("bad") && may_end_in(&free, name);
            prop_assert!(may_end || !kept.contains(last), "{written}\n{kept}");
        }
    }

    #[test]
    fn any_text_is_masked_without_a_panic_and_a_mask_stays(written in "\\PC{0,40}(password|-p|Cookie)[ :=\"'\\\\{\\[]{0,3}\\PC{0,20}") {
        let kept = text(&written);
        prop_assert_eq!(text(&kept), kept);
    }
}
