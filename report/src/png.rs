//! Each picture of the report and its first screen as PNG, for slides: drawn by the page itself in a headless browser.

use crate::ReportError;
use crate::browser::{Browser, BrowserError, find};
use crate::html::html;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;

/// A window that a laptop has, and one that a phone has (both in CSS pixels).
const WIDE: (u32, u32) = (1280, 800);
const PHONE: (u32, u32) = (390, 844);

/// So many pixels of the picture for one of the page: sharp on every screen.
const SCALE: u32 = 2;

const READY: &str = "document.documentElement.dataset.ready === 'true'";

#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The page itself, or a file.
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The page returned data that is not a PNG.
    #[error("the browser gave no picture for {0}")]
    NoPicture(String),
}

/// Writes `first-screen.png`, `first-screen-phone.png` and one file for each picture into a folder, which is made where
/// it is missing. Returns their paths.
///
/// # Errors
/// Without a browser, or when a file cannot be written.
pub fn write(document: &ResultDocument, dir: &Path) -> Result<Vec<PathBuf>, PngError> {
    let browser = find()?;
    make(dir)?;
    let page = tempfile::Builder::new().suffix(".html").tempfile();
    let page = page.map_err(|source| ReportError::Write { path: std::env::temp_dir(), source })?;
    put(page.path(), html(document)?.as_bytes())?;
    let mut browser = Browser::start(&browser)?;
    let light = json!({"features": [{"name": "prefers-color-scheme", "value": "light"}]});
    browser.call("Emulation.setEmulatedMedia", light)?;
    browser.resize(WIDE.0, WIDE.1, SCALE)?;
    browser.open(page.path())?;
    browser.until(READY)?;
    let mut files = vec![("first-screen".to_owned(), first_screen(&mut browser, WIDE)?)];
    files.extend(pictures(&mut browser)?);
    browser.resize(PHONE.0, PHONE.1, SCALE)?;
    browser.reload()?;
    browser.until(READY)?;
    files.push(("first-screen-phone".to_owned(), first_screen(&mut browser, PHONE)?));
    let write = |(name, bytes): (String, Vec<u8>)| {
        let path = dir.join(name + ".png");
        put(&path, &bytes)?;
        Ok(path)
    };
    files.into_iter().map(write).collect()
}

fn make(dir: &Path) -> Result<(), ReportError> {
    std::fs::create_dir_all(dir).map_err(|source| ReportError::Write { path: dir.to_owned(), source })
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    std::fs::write(path, bytes).map_err(|source| ReportError::Write { path: path.to_owned(), source })
}

/// The first screen: the answer, its reasons, what is next, and the trust. A phone shows one screen.
fn first_screen(browser: &mut Browser, (width, height): (u32, u32)) -> Result<Vec<u8>, PngError> {
    let phone = width < 600;
    let bottoms = "[...document.querySelectorAll('.answer, .cards, .confidence')]
        .map(it => it.getBoundingClientRect().bottom)";
    let needed = browser.evaluate(&format!("Math.ceil(Math.max(...{bottoms}) + 14)"))?.as_u64();
    let height = if phone { height.into() } else { needed.unwrap_or(0).clamp(400, 4_000) };
    let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
    let shot = json!({"format": "png", "clip": clip, "captureBeyondViewport": true});
    let shot = browser.call("Page.captureScreenshot", shot)?;
    decode("the first screen", shot["data"].as_str().unwrap_or_default())
}

/// The page's own pictures, as its buttons save them.
fn pictures(browser: &mut Browser) -> Result<Vec<(String, Vec<u8>)>, PngError> {
    let list = browser.evaluate("threadcount.pictures()")?;
    let mut pictures = Vec::new();
    for picture in list.as_array().into_iter().flatten() {
        let name = picture["name"].as_str().unwrap_or_default().to_owned();
        let url = browser.evaluate(&format!("threadcount.png({picture})"))?;
        let data = url.as_str().and_then(|url| url.strip_prefix("data:image/png;base64,"));
        let bytes = decode(&name, data.unwrap_or_default())?;
        pictures.push((name, bytes));
    }
    Ok(pictures)
}

fn decode(name: &str, data: &str) -> Result<Vec<u8>, PngError> {
    let bytes = STANDARD.decode(data).ok().filter(|bytes| !bytes.is_empty());
    bytes.ok_or_else(|| PngError::NoPicture(name.to_owned()))
}
