//! Reads a whole byte string at once, in the simplest way: no state between calls, no fast path, big integers. It has no limits on size,
//! which the table tests.

use super::Verdict;
use threadcount_load::http1::Answer;

enum Stop {
    More,
    Bad,
}

struct Message {
    status: u16,
    minor: char,
    fields: Fields,
}

type Fields = Vec<(String, String)>;

pub fn read(bytes: &[u8], is_head: bool) -> Verdict {
    match read_answer(bytes, is_head) {
        Ok((answer, consumed)) => Verdict::Complete(answer, consumed),
        Err(Stop::More) => Verdict::More,
        Err(Stop::Bad) => Verdict::Rejected("by the reference"),
    }
}

fn read_answer(bytes: &[u8], is_head: bool) -> Result<(Answer, usize), Stop> {
    let mut at = 0;
    loop {
        let message = read_message_head(bytes, &mut at)?;
        let coding = transfer_coding(&message.fields)?;
        let length = content_length(&message.fields)?;
        if coding && (length.is_some() || message.minor == '0') {
            return Err(Stop::Bad);
        }
        let options = elements(&message.fields, "connection");
        let has_option = |name: &str| options.iter().any(|option| option == name);
        let keep_alive = !has_option("close") && (message.minor == '1' || has_option("keep-alive"));
        let status = message.status;
        if status == 101 {
            return Err(Stop::Bad);
        }
        if status < 200 {
            continue;
        }
        if is_head || status == 204 || status == 304 {
            return Ok((Answer { status, keep_alive, body_bytes: 0 }, at));
        }
        if coding {
            let body_bytes = read_chunks(bytes, &mut at)?;
            return Ok((Answer { status, keep_alive, body_bytes }, at));
        }
        let Some(length) = length else { return Err(Stop::More) };
        if ((bytes.len() - at) as u128) < length {
            return Err(Stop::More);
        }
        return Ok((Answer { status, keep_alive, body_bytes: length as u64 }, at + length as usize));
    }
}

/// The next line, with its bytes as Latin-1 characters.
fn next_line(bytes: &[u8], at: &mut usize) -> Result<String, Stop> {
    let rest = &bytes[*at..];
    let end = rest.iter().position(|&byte| byte == b'\n').ok_or(Stop::More)?;
    *at += end + 1;
    let line: String = rest[..end].iter().map(|&byte| char::from(byte)).collect();
    let line = line.strip_suffix('\r').ok_or(Stop::Bad)?.to_owned();
    if line.chars().any(|c| c != '\t' && (c < ' ' || c == '\x7f')) { Err(Stop::Bad) } else { Ok(line) }
}

/// The next field, or an empty line, as one line; further lines that begin with a blank belong to it.
fn next_field(bytes: &[u8], at: &mut usize) -> Result<String, Stop> {
    let rest = &bytes[*at..];
    let mut end = 0;
    loop {
        end += rest[end..].iter().position(|&byte| byte == b'\n').ok_or(Stop::More)? + 1;
        if end <= 2 {
            break;
        }
        match rest.get(end) {
            None => return Err(Stop::More),
            Some(b' ' | b'\t') => {}
            Some(_) => break,
        }
    }
    *at += end;
    let lines: String = rest[..end].iter().map(|&byte| char::from(byte)).collect();
    let line = lines.strip_suffix("\r\n").ok_or(Stop::Bad)?.replace("\r\n", "  ");
    if line.chars().any(|c| c != '\t' && (c < ' ' || c == '\x7f')) { Err(Stop::Bad) } else { Ok(line) }
}

fn read_message_head(bytes: &[u8], at: &mut usize) -> Result<Message, Stop> {
    let rest = &bytes[*at..];
    if !b"HTTP/".starts_with(&rest[..rest.len().min(5)]) {
        return Err(Stop::Bad);
    }
    let line = next_line(bytes, at)?;
    let (version, rest) = line.split_once(' ').ok_or(Stop::Bad)?;
    let minor = match version {
        "HTTP/1.0" => '0',
        "HTTP/1.1" => '1',
        _ => return Err(Stop::Bad),
    };
    let code = rest.split(' ').next().unwrap_or("");
    if code.len() != 3 || !code.chars().all(|c| c.is_ascii_digit()) || code.starts_with('0') {
        return Err(Stop::Bad);
    }
    let fields = read_fields(bytes, at, true)?;
    Ok(Message { status: code.parse().map_err(|_| Stop::Bad)?, minor, fields })
}

fn read_fields(bytes: &[u8], at: &mut usize, in_head: bool) -> Result<Fields, Stop> {
    let mut fields = Vec::new();
    loop {
        let line = next_field(bytes, at)?;
        if line.is_empty() {
            return Ok(fields);
        }
        let (name, value) = line.split_once(':').ok_or(Stop::Bad)?;
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            return Err(Stop::Bad);
        }
        fields.push((name.to_ascii_lowercase(), trim(value).to_owned()));
        // A bad length or coding is an error as soon as its line is complete.
        if in_head {
            content_length(&fields)?;
            transfer_coding(&fields)?;
        }
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

fn values<'m>(fields: &'m Fields, name: &str) -> Vec<&'m str> {
    fields.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect()
}

fn elements(fields: &Fields, name: &str) -> Vec<String> {
    let all = values(fields, name).join(",");
    all.split(',').map(|one| trim(one).to_ascii_lowercase()).filter(|one| !one.is_empty()).collect()
}

fn transfer_coding(fields: &Fields) -> Result<bool, Stop> {
    if values(fields, "transfer-encoding").is_empty() {
        return Ok(false);
    }
    let no_blanks = values(fields, "transfer-encoding")
        .iter()
        .all(|value| !value.trim_matches([' ', '\t', ',']).is_empty());
    if no_blanks && elements(fields, "transfer-encoding") == ["chunked"] { Ok(true) } else { Err(Stop::Bad) }
}

fn content_length(fields: &Fields) -> Result<Option<u128>, Stop> {
    let given = values(fields, "content-length");
    if given.is_empty() {
        return Ok(None);
    }
    let mut lengths = Vec::new();
    for one in given.join(",").split(',') {
        let digits = trim(one);
        if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
            return Err(Stop::Bad);
        }
        let significant = digits.trim_start_matches('0');
        if significant.len() > 20 {
            return Err(Stop::Bad);
        }
        lengths.push(format!("0{significant}").parse::<u128>().map_err(|_| Stop::Bad)?);
    }
    lengths.dedup();
    if lengths.len() == 1 && lengths[0] <= u128::from(u64::MAX) {
        Ok(Some(lengths[0]))
    } else {
        Err(Stop::Bad)
    }
}

fn read_chunks(bytes: &[u8], at: &mut usize) -> Result<u64, Stop> {
    let mut body = 0;
    loop {
        let line = next_line(bytes, at)?;
        let size = line.split(';').next().unwrap_or_default().trim_end_matches([' ', '\t']);
        if size.is_empty() || !size.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(Stop::Bad);
        }
        let significant = size.trim_start_matches('0');
        if significant.len() > 16 {
            return Err(Stop::Bad);
        }
        let size = u64::from_str_radix(&format!("0{significant}"), 16).map_err(|_| Stop::Bad)?;
        if size == 0 {
            read_fields(bytes, at, false)?;
            return Ok(body);
        }
        let left = &bytes[*at..];
        if (left.len() as u64) < size {
            return Err(Stop::More);
        }
        *at += size as usize;
        body += size;
        for expected in [b'\r', b'\n'] {
            match bytes.get(*at) {
                None => return Err(Stop::More),
                Some(&byte) if byte != expected => return Err(Stop::Bad),
                Some(_) => *at += 1,
            }
        }
    }
}
