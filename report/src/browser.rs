//! A headless Chromium over the DevTools protocol, by its pipe: JSON ended by a zero byte, no web socket, no driver.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Timeout of a command, for a browser that hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Under these names Chromium and its relatives are found in PATH.
const NAMES: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];

/// No name is resolved, so that nothing leaves this machine.
const FLAGS: [&str; 14] = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--window-size=1280,900",
    "--remote-debugging-pipe",
];

/// Why a page could not be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    #[error(
        "pictures need Chromium or Chrome, and neither is in PATH. Install it (Debian: apt-get install chromium), \
         or save the pictures one by one with the buttons in report.html"
    )]
    Missing,
    /// It is there, but does not start.
    #[error("{program} cannot be started: {source}")]
    CannotStart {
        program: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the browser does not answer to {0}. Does it start by hand, with --headless?")]
    Silent(String),
    /// A command returned an error.
    #[error("the browser refused {what}: {why}")]
    Refused { what: String, why: String },
}

/// The browser of this machine.
///
/// # Errors
/// [`BrowserError::Missing`].
pub fn find() -> Result<PathBuf, BrowserError> {
    NAMES.into_iter().find_map(|name| which::which(name).ok()).ok_or(BrowserError::Missing)
}

/// One headless browser with one page. It ends with this value.
pub struct Browser {
    process: Child,
    writer: ChildStdin,
    messages: Receiver<Value>,
    _profile: tempfile::TempDir,
    session: String,
    last_id: u64,
    pub events: Vec<Value>,
}

impl Browser {
    /// Starts it with an empty page.
    ///
    /// # Errors
    /// When it does not start or does not respond.
    pub fn start(program: &Path) -> Result<Self, BrowserError> {
        let failed = |source| BrowserError::CannotStart { program: program.to_owned(), source };
        let profile = tempfile::tempdir().map_err(failed)?;
        let mut process = command(program, profile.path()).spawn().map_err(failed)?;
        let silent = || BrowserError::Silent("its start".to_owned());
        let writer = process.stdin.take().ok_or_else(silent)?;
        let output = BufReader::new(process.stdout.take().ok_or_else(silent)?);
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                if sender.send(serde_json::from_slice(&message).unwrap_or(Value::Null)).is_err() {
                    break;
                }
            }
        });
        let (session, events) = (String::new(), Vec::new());
        let mut browser = Self { process, writer, messages, _profile: profile, session, last_id: 0, events };
        browser.attach()?;
        Ok(browser)
    }

    fn attach(&mut self) -> Result<(), BrowserError> {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}))?["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}))?;
        self.session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(())
    }

    /// One command and its result.
    ///
    /// # Errors
    /// When it is refused or not answered.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, BrowserError> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(id, method, params)?;
        let answer = self.wait(method, |message| message["id"] == id)?;
        if answer["error"].is_null() {
            return Ok(answer["result"].clone());
        }
        Err(BrowserError::Refused { what: method.to_owned(), why: answer["error"].to_string() })
    }

    fn send(&mut self, id: u64, method: &str, params: Value) -> Result<(), BrowserError> {
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.writer.write_all(&bytes).map_err(|_| BrowserError::Silent(method.to_owned()))
    }

    /// Reads messages until one is wanted; the events among them are kept, dialogs are closed.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value, BrowserError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message =
                self.messages.recv_timeout(left).map_err(|_| BrowserError::Silent(what.to_owned()))?;
            if message["method"] == "Page.javascriptDialogOpening" {
                self.send(0, "Page.handleJavaScriptDialog", json!({"accept": false}))?;
            }
            if message["method"].is_string() {
                self.events.push(message.clone());
            }
            if wanted(&message) {
                return Ok(message);
            }
        }
    }

    /// Opens a file and waits until it is loaded.
    ///
    /// # Errors
    /// When the browser does not load it.
    pub fn open(&mut self, file: &Path) -> Result<(), BrowserError> {
        self.load("Page.navigate", json!({"url": format!("file://{}", file.display())}))
    }

    /// Loads the same page again.
    ///
    /// # Errors
    /// When the browser does not load it.
    pub fn reload(&mut self) -> Result<(), BrowserError> {
        self.load("Page.reload", json!({}))
    }

    fn load(&mut self, method: &str, params: Value) -> Result<(), BrowserError> {
        let loaded = |message: &Value| message["method"] == "Page.loadEventFired";
        let before = self.events.len();
        self.call(method, params)?;
        if !self.events[before..].iter().any(loaded) {
            self.wait("load", loaded)?;
        }
        Ok(())
    }

    /// The value of an expression; promises are awaited.
    ///
    /// # Errors
    /// When the script throws.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value, BrowserError> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", params)?;
        if answer["exceptionDetails"].is_null() {
            return Ok(answer["result"]["value"].clone());
        }
        let why = answer["exceptionDetails"].to_string();
        Err(BrowserError::Refused { what: expression.to_owned(), why })
    }

    /// Waits until an expression is true.
    ///
    /// # Errors
    /// When it never is.
    pub fn until(&mut self, expression: &str) -> Result<(), BrowserError> {
        let until = Instant::now() + PATIENCE;
        while self.evaluate(expression)? != true {
            if Instant::now() > until {
                return Err(BrowserError::Silent(format!("`{expression}`: it never came true")));
            }
            self.evaluate("new Promise(resolve => setTimeout(resolve, 20))")?;
        }
        Ok(())
    }

    /// A window of this size, in CSS pixels; one narrower than 600 is a phone.
    ///
    /// # Errors
    /// When the browser refuses.
    pub fn resize(&mut self, width: u32, height: u32, scale: u32) -> Result<(), BrowserError> {
        let mobile = width < 600;
        let params = json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile});
        self.call("Emulation.setDeviceMetricsOverride", params).map(|_| ())
    }
}

/// The pipe is file descriptors 3 (in) and 4 (out); the shell puts our stdin and stdout there.
fn command(program: &Path, profile: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null 1>&2"#, "sh"]).arg(program).args(FLAGS);
    // Chromium refuses to make its sandbox as root; it shows nothing but our own file.
    if rustix::process::geteuid().is_root() {
        command.arg("--no-sandbox");
    }
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
