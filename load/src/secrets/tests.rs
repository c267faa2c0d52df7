use super::*;
use proptest::prelude::*;
use serde_json::json;

/// Each text with the text that is shown in its place. A mask is not masked again.
#[test]
fn a_secret_in_a_text_is_masked_where_its_name_is_beside_it() {
    for (written, shown) in [
        ("http://me:s3cret@h:81/a", "http://me:***@h:81/a"),
        ("git clone https://ghp_16C7e42F292c6912E7@github.com/a/b", "git clone https://***@github.com/a/b"),
        ("/a?id=7&access_token=abc&n=1", "/a?id=7&access_token=***&n=1"),
        ("/a?user[password]=abc&X-Amz-Signature=f", "/a?user[password]=***&X-Amz-Signature=***"),
        ("/a?key=AIzaSyD4e5f6g7h8&n=1", "/a?key=***&n=1"),
        (
            "java -Dspring.datasource.password=abc -jar a.jar",
            "java -Dspring.datasource.password=*** -jar a.jar",
        ),
        ("psql --password abc --host h", "psql --password *** --host h"),
        (
            "DB_PASSWORD=abc KEYSTORE_PASS=d GITHUB_PAT=e ./x",
            "DB_PASSWORD=*** KEYSTORE_PASS=*** GITHUB_PAT=*** ./x",
        ),
        ("--password=Ab#1,x --host h", "--password=*** --host h"),
        ("--password=a'b c'd --host h", "--password=*** --host h"),
        (r"run --api-key='a b'\''&c' x", "run --api-key=*** x"),
        ("run --pw abc --db-pw=d", "run --pw *** --db-pw=***"),
        ("curl -ume:abc -su you:d --proxy-user me:e x", "curl -ume:*** -su you:*** --proxy-user me:*** x"),
        ("load --user=me:abc", "load --user=me:***"),
        ("user=me&dbPassword=x", "user=me&dbPassword=***"),
        ("X-Api-Key: abc", "X-Api-Key: ***"),
        ("Ocp-Apim-Subscription-Key: abc", "Ocp-Apim-Subscription-Key: ***"),
        ("SIGNING_KEY=abc x-functions-key:e", "SIGNING_KEY=*** x-functions-key:***"),
        ("/a?n=1&code=abcdefgh12345678==", "/a?n=1&code=***"),
        ("http://h/cb?code=hunter2&state=xyz", "http://h/cb?code=***&state=xyz"),
        ("/cb#iss=https://h&code=abc", "/cb#iss=https://h&code=***"),
        (
            r#"curl -d "code=abc&code_verifier=d&redirect_uri=http://h/""#,
            r#"curl -d "code=***&code_verifier=***&redirect_uri=http://h/""#,
        ),
        ("grant_type=x&assertion=abc", "grant_type=x&assertion=***"),
        ("/token?client_assertion=a.b&device_code=c", "/token?client_assertion=***&device_code=***"),
        (r#"{"deviceCode":"abc","SAMLResponse":"d="}"#, r#"{"deviceCode":"***","SAMLResponse":"***"}"#),
        ("curl -u me:abc --user 'you:d e' http://h/", "curl -u me:*** --user you:*** http://h/"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        (r#"Authorization: Digest username="me", response="abc""#, "Authorization: ***"),
        ("Cookie: a=b; c=d\r\nHost: h", "Cookie: ***\r\nHost: h"),
        (r#"Cookie: a="b c"; d=${T}"#, "Cookie: ***"),
        (r#"curl -H "Cookie: a=b; c=d" http://h/"#, r#"curl -H "Cookie: ***" http://h/"#),
        (r#"curl -d "user=me&password=abc" -H "A: b""#, r#"curl -d "user=me&password=***" -H "A: b""#),
        (r#"curl -d "{\"password\":\"abc\"}" x"#, r#"curl -d "{\"password\":\"***\"}" x"#),
        ("user: me\npassword: a b # c\nhost: h", "user: me\npassword: ***\nhost: h"),
        (r#"x "password":"a\"b" y"#, r#"x "password":"***" y"#),
        (r#"cut {"password":"abc"#, r#"cut {"password":"***"#),
        (r#"cut {"password":["x","y"],"#, r#"cut {"password":***"#),
        (r#"cut {"password":123,"user":"me"#, r#"cut {"password":***,"user":"me"#),
        (r#"1 {"m":"bad password: x7}.Qw9"}"#, r#"1 {"m":"bad password: ***"}"#),
        ("<wsse:Password>abc</wsse:Password>", "<wsse:Password>***</wsse:Password>"),
        ("password=abc${PASSWORD}", "password=***"),
    ] {
        assert_eq!(masked_text(written), shown);
        assert_eq!(masked_text(shown), shown);
    }
}

#[test]
fn a_text_that_only_looks_like_a_secret_is_shown() {
    for shown in [
        "Authorization: Bearer ${TOKEN}",
        "Cookie: sid=${SID}; t={seq:1}",
        "-Dpassword=${DB_PASSWORD} -Dx=y",
        "--password {secret} --host h",
        r#"{"token": {seq:1}, "user": "me"}"#,
        "http://me:${DB_PASSWORD}@h/",
        "http://h:8080/a@b:c",
        "ssh://git@github.com/a/b",
        "max-tokens=10 token-ttl=30s token-uri=http://h/",
        "the token was refused",
        "http://h:80?m=a@b",
        "/passwords?sort=name",
        "the server hangs: 4 requests stood at Login.checkPassword:45",
        "<passwords>3</passwords> <password>${DB_PASSWORD}</password>",
        "curl -unbuffered http://h/",
        "write <NAME:PASSWORD> to <file>",
        "com.shop.TokenFilter.doFilter:57",
        "at com.shop.TokenFilter.doFilter(TokenFilter.java:57)",
        "BadCredentialsException: Bad credentials",
        "docker run --user 1000:1000 -u 5:5 -p 80:80 image",
        "python -u app.py -u http://h:80/ -u me: -u me:${PASSWORD}",
        "/cache?key=42&key=customer&code=DE",
        "/orders?state=open&page=2 code=abc ended",
        "/airports?state=CA&code=90210",
        "exit code=137, state=failed",
        r#"{"code":"NOT_FOUND","state":"open","assertion":"a > 1","ticket":"SHOP-1"}"#,
        "X-Error-Code: E42 code: abc",
        "partition_key=abc public-key=abc key=abc bypass=yes",
        r#"{"max_tokens": 10, "password": null}"#,
    ] {
        assert_eq!(masked_text(shown), shown);
    }
}

#[test]
fn a_secret_in_data_is_masked_beside_its_name_and_data_keeps_its_form() {
    let mut data = json!({
        "password": ["x", {"value": "y", "n": 4}],
        "env": [{"name": "DB_PASSWORD", "value": "z"}, {"name": "HOST", "value": "h"}],
        "headers": [["X-Auth-Token", "abc"], ["Accept", "b"], ["Cookie", null]],
        "command": ["srv", "--password=Ab#1, x&y", "--token", "t", "-u", "me:x", "-u", "5:5", "-Dpin.secret=1"],
        "body": "{\"d\": 1, \"token\": \"c\"}",
        "flags": ["load", "--cookies", "--no-keepalive"],
        "captures": ["token=header:X-Token"],
        "cookies": true,
    });
    Secrets::default().mask_data(&mut data);
    let shown = json!({
        "password": ["***", {"value": "***", "n": "***"}],
        "env": [{"name": "DB_PASSWORD", "value": "***"}, {"name": "HOST", "value": "h"}],
        "headers": [["X-Auth-Token", "***"], ["Accept", "b"], ["Cookie", null]],
        "command": ["srv", "--password=***", "--token", "***", "-u", "me:***", "-u", "5:5", "-Dpin.secret=***"],
        "body": "{\"d\":1,\"token\":\"***\"}",
        "flags": ["load", "--cookies", "--no-keepalive"],
        "captures": ["token=header:X-Token"],
        "cookies": true,
    });
    assert_eq!(data, shown);
}

#[test]
fn a_secret_that_was_given_is_hidden_wherever_it_appears_in_whatever_form() {
    let mut secrets = Secrets::default();
    for given in [
        "DB_PASSWORD='it is s3cret'",
        "Authorization: Bearer t0ken.abc",
        "Cookie: sid=c00kie; lang=en",
        r#"{"password": "q\"uote&d"}"#,
        "http://me:url%2Fpw@h/",
        "--user you:us3rpw",
        "X-Auth: Basic bWU6YmFzaWNwdw==",
        r#"{"id": {seq:1}, "token": "br\"ace"}"#,
        r#"Proxy-Authorization: Digest username="me", response="d1gest""#,
        "PIN_SECRET=abc",
    ] {
        let _ = secrets.mask_text(given);
    }
    secrets.add("from/env", "${NAME}");
    for (printed, shown) in [
        ("no it is s3cret, no t0ken.abc, no c00kie, no d1gest", "no ***, no ***, no ***, no ***"),
        (r#"refused {"p":"q\"uote&d"} q"uote&d q%22uote%26d"#, r#"refused {"p":"***"} *** ***"#),
        ("url%2Fpw url/pw us3rpw eW91OnVzM3Jwdw== basicpw", "*** *** *** *** ***"),
        ("/a?x=from%2Fenv from/env", "/a?x=${NAME} ${NAME}"),
        (r#"br"ace br\"ace br%22ace"#, "*** *** ***"),
        ("lang en, abc, Bearer", "lang en, abc, Bearer"),
    ] {
        assert_eq!(secrets.hidden_in(printed), shown);
    }
    let names = "Authorization, Cookie, DB_PASSWORD, PIN_SECRET, Proxy-Authorization, X-Auth, password, the password of --user, \
        the password of a URL, token";
    assert_eq!(secrets.in_words().unwrap(), names);
}

#[test]
fn a_name_of_a_secret_is_known_however_its_words_are_separated() {
    for name in [
        "PASSWORD2",
        "password_confirmation",
        "SECRET_KEY_BASE",
        "signingKey",
        "AccountKey",
        "X-Session-Id",
        "JSESSIONID",
        "X_CREDENTIALS",
        "accesstoken",
        "API_KEY_STAGING",
        "GITHUB_TOKEN_RO",
        "Set-Cookie",
        "dbpass",
        "db-pw",
        "jwt",
        "x-auth",
    ] {
        assert!(is_secret(name), "{name}");
    }
    for name in [
        "",
        "compass",
        "key",
        "partitionKey",
        "publicKey",
        "keyboard",
        "tokenizer",
        "author",
        "oauth2",
        "passenger",
        "pattern",
        "session",
        "signal",
        "BadCredentialsException",
    ] {
        assert!(!is_secret(name), "{name}");
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

/// A secret whose two random ends show whether any part of it is left.
fn secret() -> impl Strategy<Value = String> {
    "Zq[a-z0-9]{6}[ -~]{0,6}[a-z]Wx[a-z0-9]{6}"
}

/// A secret that may be written without quotes.
fn secret_word() -> impl Strategy<Value = String> {
    "Zq[a-z0-9]{6}[!#$%*+,./:=?@^_~-]{0,3}[a-z]Wx[a-z0-9]{6}"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_secret_that_was_given_is_shown_in_part(
        name in prop::sample::select(&NAMES[..]), secret in secret(), word in secret_word(), number in 0..1_000_000_u32,
    ) {
        // Under some names an address is not a secret.
        prop_assume!(!secret.contains("://") && !word.contains("://"));
        let has_no_part = |text: &str| {
            let is_absent = |part: &str| !text.contains(&part[..8]) && !text.contains(&part[part.len() - 8..]);
            is_absent(&secret) && is_absent(&word)
        };
        let quoted = serde_json::to_string(&secret).unwrap();
        let shell = format!("'{}'", secret.replace('\'', r"'\''"));
        for written in [
            format!("GET /a?x=1&{name}={word}&y=2"),
            format!("{name}={word} HOST=h"),
            format!("java -D{name}={word} -jar a.jar"),
            format!("srv --{name} {word} -x"),
            format!("srv --{name}={shell} -x"),
            format!("srv --{name} {shell} -x"),
            format!("{name}: {secret}\nhost: h"),
            format!("x.Refused: bad {name}: {quoted} at a.B.c(D.java:5)"),
            format!("cut {{\"a\": 1, \"{name}\": {quoted}, \"b"),
            format!("cut {{\"a\": {{seq:1}}, \"{name}\": [1, {quoted}], \"b"),
            format!("<{name}>{}</{name}>", secret.replace('<', "&lt;")),
        ] {
            let mut secrets = Secrets::default();
            let shown = secrets.mask_text(&written);
            prop_assert!(has_no_part(&shown), "{written}\n{shown}");
            // A server may send back what it received.
            let later = secrets.hidden_in(&written);
            prop_assert!(has_no_part(&secrets.mask_text(&later)), "{written}\n{later}");
        }
        for mut data in [
            json!({name: secret, "n": number}),
            json!({name: [secret, {"value": secret}]}),
            json!({"name": name, "value": secret}),
            json!([["srv", format!("--{name}"), secret], ["srv", format!("--{name}={secret}")]]),
            json!([[name, secret], [format!("-D{name}={secret}"), format!("{name}={secret}")]]),
            json!({"body": json!({name: secret}).to_string()}),
        ] {
            let shown = masked_text(&data.to_string());
            prop_assert!(has_no_part(&shown), "{data}\n{shown}");
            let mut secrets = Secrets::default();
            secrets.mask_data(&mut data);
            prop_assert_eq!(&data, &serde_json::from_str::<Value>(&shown).unwrap());
            let printed = format!("no {secret}, no {quoted}, no {}", utf8_percent_encode(&secret, ENCODED));
            let later = secrets.hidden_in(&printed);
            prop_assert!(has_no_part(&later), "{printed}\n{later}");
        }
    }

    #[test]
    fn any_text_is_masked_without_a_panic(
        written in "\\PC{0,40}(password|-u|Cookie)[ :=\"'\\\\{\\[]{0,3}\\PC{0,20}",
    ) {
        let _ = masked_text(&written);
    }
}
