//! Reads the parts of a Markdown page that could mislead a reader: blocks, code within a line, links, and headings with their anchors.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A text and the number of its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub line: usize,
    pub text: String,
}

/// A block between fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub language: String,
    pub text: Text,
}

/// The parts of a page.
#[derive(Debug, Default)]
pub struct Page {
    /// The path relative to the repository.
    pub name: PathBuf,
    pub blocks: Vec<Block>,
    /// The code between single backticks in paragraphs.
    pub code: Vec<Text>,
    /// The links, `PATH#ANCHOR`, as they are written.
    pub links: Vec<Text>,
    /// The anchors of headings for which GitHub and the site make the same anchor.
    pub anchors: BTreeSet<String>,
}

impl Page {
    /// Reads a file of the repository.
    pub fn read(name: &Path) -> Self {
        let text = fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
        Self { name: name.to_owned(), ..Self::parse(&text) }
    }

    pub fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut lines = text.lines().enumerate().map(|(before, line)| (before + 1, line));
        let mut paragraph = Text { line: 1, text: String::new() };
        while let Some((number, line)) = lines.next() {
            if let Some(language) = line.trim_start().strip_prefix("```") {
                page.end_paragraph(&mut paragraph);
                let inside = lines.by_ref().map(|(_, line)| line).take_while(|it| it.trim() != "```");
                let text = Text { line: number + 1, text: inside.collect::<Vec<_>>().join("\n") };
                page.blocks.push(Block { language: language.trim().to_owned(), text });
                continue;
            }
            let is_heading = line.starts_with('#');
            if line.trim().is_empty() || is_heading {
                page.end_paragraph(&mut paragraph);
            }
            if paragraph.text.is_empty() {
                paragraph.line = number;
            }
            paragraph.text += line;
            paragraph.text.push('\n');
            if is_heading {
                page.add_anchor(line.trim_start_matches('#').trim());
                page.end_paragraph(&mut paragraph);
            }
        }
        page.end_paragraph(&mut paragraph);
        page
    }

    /// Takes code and links out of a paragraph. Text within code is no link.
    fn end_paragraph(&mut self, paragraph: &mut Text) {
        let (prose, code) = without_code(&paragraph.text);
        let line_at = |at: usize| paragraph.line + paragraph.text[..at].matches('\n').count();
        self.code.extend(code.into_iter().map(|(at, text)| Text { line: line_at(at), text }));
        for (at, _) in prose.match_indices("](") {
            let target = prose[at + 2..].split([')', ' ', '\n']).next().unwrap_or_default();
            self.links.push(Text { line: line_at(at), text: target.to_owned() });
        }
        paragraph.text.clear();
    }

    /// Adds the anchor of a heading. If GitHub and the site make different anchors, no link can use it. The same holds for the second of
    /// two equal headings.
    fn add_anchor(&mut self, heading: &str) {
        let mut pieces = heading.split("](");
        let mut label = pieces.next().unwrap_or_default().to_owned();
        pieces.for_each(|piece| label += piece.split_once(')').map_or("", |(_, rest)| rest));
        let label = label.replace(['`', '[', '*'], "").to_lowercase();
        let on_github: String = label
            .chars()
            .filter(|it| it.is_alphanumeric() || " -_".contains(*it))
            .map(|it| if it == ' ' { '-' } else { it })
            .collect();
        let on_the_site: String =
            label.chars().filter(|it| it.is_ascii_alphanumeric() || " -_".contains(*it)).collect();
        let words: Vec<&str> = on_the_site.split([' ', '-']).filter(|it| !it.is_empty()).collect();
        if on_github == words.join("-") {
            self.anchors.insert(on_github);
        }
    }
}

/// The text with blanks in place of code between backticks, and each code with its place.
fn without_code(text: &str) -> (String, Vec<(usize, String)>) {
    let (mut prose, mut code) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let quotes = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let (before, opened) = rest.split_at(start + quotes);
        let Some(length) = opened.find(&before[start..]) else { break };
        prose += &before[..start];
        prose += &" ".repeat(quotes + length + quotes);
        code.push((
            text.len() - opened.len(),
            opened[..length].split_whitespace().collect::<Vec<_>>().join(" "),
        ));
        rest = &opened[length + quotes..];
    }
    prose += rest;
    (prose, code)
}

/// The pages that people read: those of the repository and of its parts, and everything below `docs`.
pub fn page_names() -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(PathBuf::from).into();
    for folder in [".", "jvm"] {
        let parts = entries(Path::new(folder)).into_iter().map(|it| it.join("README.md"));
        names.extend(parts.filter(|it| Path::new(ROOT).join(it).is_file()));
    }
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if Path::new(ROOT).join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                names.push(path);
            }
        }
    }
    let mut names: Vec<PathBuf> =
        names.into_iter().map(|it| it.strip_prefix(".").map(Path::to_owned).unwrap_or(it)).collect();
    names.sort();
    names.dedup();
    names
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(ROOT).join(folder)).unwrap().map(|it| it.unwrap().file_name());
    entries.map(|it| folder.join(it)).collect()
}

pub fn pages() -> Vec<Page> {
    page_names().iter().map(|name| Page::read(name)).collect()
}

#[test]
fn a_page_is_taken_apart() {
    let page = Page::parse(
        "# The `load` command\nSee [here](a.md#x) and `threadcount\nload` or `[no](link)`.\n\n```sh\n# no heading\nls\n```\n\
         ## Two - dashes\n[more][] [b](c.md)\n",
    );
    let text = |line, text: &str| Text { line, text: text.to_owned() };
    assert_eq!(page.blocks, [Block { language: "sh".into(), text: text(6, "# no heading\nls") }]);
    assert_eq!(page.links, [text(2, "a.md#x"), text(10, "c.md")]);
    assert_eq!(page.code, [text(1, "load"), text(2, "threadcount load"), text(3, "[no](link)")]);
    assert_eq!(
        page.anchors,
        BTreeSet::from(["the-load-command".to_owned()]),
        "`two---dashes` is only GitHub's"
    );
}
