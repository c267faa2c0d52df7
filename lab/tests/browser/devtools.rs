//! Chromium over the DevTools protocol, by its pipe: JSON ended by a zero byte, no web socket, no driver.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Far longer than a loaded machine needs; it only keeps a broken test from hanging.
const PATIENCE: Duration = Duration::from_secs(120);

const FLAGS: [&str; 14] = [
    "--headless",
    "--no-sandbox",
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
    "--window-size=1280,900",
    "--remote-debugging-pipe",
];

/// One page in one headless browser.
pub struct Page {
    browser: Child,
    writer: ChildStdin,
    messages: Receiver<Value>,
    _profile: tempfile::TempDir,
    session: String,
    last_id: u64,
    /// Every event so far.
    pub events: Vec<Value>,
}

/// The browser, or the word to skip by.
pub fn chromium() -> Option<std::path::PathBuf> {
    if std::env::var_os("THREADCOUNT_SKIP_BROWSER").is_some_and(|value| value == "1") {
        println!("skipped: THREADCOUNT_SKIP_BROWSER=1");
        return None;
    }
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find_map(|name| which::which(name).ok());
    let advice =
        "no Chromium found. Install it (Debian: apt-get install chromium) or set THREADCOUNT_SKIP_BROWSER=1";
    Some(found.expect(advice))
}

impl Page {
    /// Starts a browser with one empty page.
    pub fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The pipe is file descriptors 3 (in) and 4 (out); the shell puts our stdin and stdout there.
        let mut browser = Command::new("sh")
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null 1>&2"#, "sh"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let writer = browser.stdin.take().unwrap();
        let output = BufReader::new(browser.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                if sender.send(serde_json::from_slice(&message).unwrap_or(Value::Null)).is_err() {
                    break;
                }
            }
        });
        let session = String::new();
        let mut page =
            Self { browser, writer, messages, _profile: profile, session, last_id: 0, events: Vec::new() };
        page.attach();
        page
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        self.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// One command and its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.writer.write_all(&serde_json::to_vec(&message).unwrap()).unwrap();
        self.writer.write_all(&[0]).unwrap();
        let id = self.last_id;
        let answer = self.wait(method, |message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// Reads messages until one is wanted; the events among them are kept, dialogs are closed.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left);
            let message = message.unwrap_or_else(|error| panic!("{what}: Chromium does not answer: {error}"));
            if message["method"] == "Page.javascriptDialogOpening" {
                let close = json!({"id": 0, "method": "Page.handleJavaScriptDialog", "sessionId": self.session,
                    "params": {"accept": false}});
                self.writer.write_all(&serde_json::to_vec(&close).unwrap()).unwrap();
                self.writer.write_all(&[0]).unwrap();
            }
            if message["method"].is_string() {
                self.events.push(message.clone());
            }
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Opens a file and waits until all its pictures are drawn.
    pub fn open(&mut self, file: &Path) {
        self.load("Page.navigate", json!({"url": format!("file://{}", file.display())}));
    }

    /// Loads the same page again.
    pub fn reload(&mut self) {
        self.load("Page.reload", json!({}));
    }

    fn load(&mut self, method: &str, params: Value) {
        let loaded = |message: &Value| message["method"] == "Page.loadEventFired";
        let before = self.events.len();
        self.call(method, params);
        if !self.events[before..].iter().any(loaded) {
            self.wait("load", loaded);
        }
        self.until("document.documentElement.dataset.ready === 'true'");
    }

    /// Lets the page go on for a moment.
    fn pause(&mut self) {
        self.evaluate("new Promise(resolve => setTimeout(resolve, 20))");
    }

    /// The value of an expression; promises are awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The text of an expression.
    pub fn text(&mut self, expression: &str) -> String {
        self.evaluate(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.evaluate(expression) != true {
            assert!(Instant::now() < until, "never true: {expression}; {:?}", self.complaints());
            self.pause();
        }
    }

    /// Moves the mouse over a place of an element, given as shares of its width and height.
    pub fn hover(&mut self, selector: &str, across: f64, down: f64) {
        let script = format!(
            "(() => {{ const it = document.querySelector({selector:?}); it.scrollIntoView({{block: 'center', behavior: 'instant'}});
             const box = it.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; }})()"
        );
        let sides = self.evaluate(&script);
        let side = |index: usize| sides[index].as_f64().unwrap();
        let (x, y) = (side(0) + side(2) * across, side(1) + side(3) * down);
        for step in [3.0, 0.0] {
            let params = json!({"type": "mouseMoved", "x": x - step, "y": y - step});
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// A window of this size; 390 is a phone.
    pub fn resize(&mut self, width: u32, height: u32) {
        let params = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", params);
    }

    /// Errors and warnings on the console, uncaught exceptions, dialogs.
    pub fn complaints(&self) -> Vec<&Value> {
        let wanted = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Page.javascriptDialogOpening" | "Log.entryAdded") => true,
            Some("Runtime.consoleAPICalled") => {
                ["error", "warning", "assert"].contains(&event["params"]["type"].as_str().unwrap_or_default())
            }
            _ => false,
        };
        self.events.iter().filter(wanted).collect()
    }

    /// Addresses that were asked for.
    pub fn requests(&self) -> Vec<&str> {
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}
