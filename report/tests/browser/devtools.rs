//! A headless Chromium driven over the DevTools pipe: JSON messages, each ended by a zero byte. A refused command ends the test.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Timeout of a command, in case the browser hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Chromium's flags; no name is resolved, so that nothing leaves this machine.
const FLAGS: [&str; 13] = [
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
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--window-size=1280,900",
    "--remote-debugging-pipe",
];

const READY: &str = "document.documentElement.dataset.ready === 'true'";

/// One page in one headless browser, which ends with this value.
pub struct Page {
    process: Child,
    writer: ChildStdin,
    messages: Receiver<Value>,
    _profile: tempfile::TempDir,
    session: String,
    last_id: u64,
    events: Vec<Value>,
}

/// The path of this machine's Chromium.
pub fn chromium() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find_map(|name| which::which(name).ok());
    found.unwrap_or_else(|| panic!("Chromium is not in PATH; `./dev test` installs it"))
}

impl Page {
    /// Starts a browser with one empty page.
    pub fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut process = command(program, profile.path()).spawn().unwrap();
        let writer = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
            }
        });
        let (session, events) = (String::new(), Vec::new());
        let mut page = Self { process, writer, messages, _profile: profile, session, last_id: 0, events };
        let target = page.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = page.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        page.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page
    }

    /// Sends one command and returns its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(id, method, params);
        let answer = self.wait(method, |message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    fn send(&mut self, id: u64, method: &str, params: Value) {
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.writer.write_all(&bytes).unwrap();
    }

    /// Reads messages until the wanted one arrives; meanwhile it keeps events and closes dialogs.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).unwrap_or_else(|_| panic!("no answer to {what}"));
            if message["method"] == "Page.javascriptDialogOpening" {
                self.send(0, "Page.handleJavaScriptDialog", json!({"accept": false}));
            }
            if message["method"].is_string() {
                self.events.push(message.clone());
            }
            if wanted(&message) {
                return message;
            }
        }
    }

    fn load(&mut self, method: &str, params: Value) {
        let loaded = |message: &Value| message["method"] == "Page.loadEventFired";
        let before = self.events.len();
        self.call(method, params);
        if !self.events[before..].iter().any(loaded) {
            self.wait("load", loaded);
        }
    }

    /// Opens a file and draws all its pictures, even those far from the visible part.
    pub fn open(&mut self, file: &Path) {
        self.load("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        self.draw_all();
    }

    fn draw_all(&mut self) {
        self.until(READY);
        self.evaluate("threadcount.paintAll()");
    }

    /// Loads the same page again and draws all its pictures.
    pub fn reload(&mut self) {
        self.load("Page.reload", json!({}));
        self.draw_all();
    }

    /// Loads the same page again as for a reader: only pictures near the visible part are drawn, within the next frames.
    pub fn reload_as_a_reader(&mut self) {
        self.load("Page.reload", json!({}));
        self.until(READY);
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))",
        );
    }

    /// Loads the same page again without running its scripts.
    pub fn reload_without_scripts(&mut self) {
        self.load("Page.reload", json!({}));
        self.until("document.readyState === 'complete'");
    }

    /// The value of an expression; promises are awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The value of an expression as text.
    pub fn text(&mut self, expression: &str) -> String {
        self.evaluate(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.evaluate(expression) != true {
            assert!(Instant::now() < until, "`{expression}` never came true; {:?}", self.complaints());
            self.evaluate("new Promise(resolve => setTimeout(resolve, 20))");
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

    /// Resizes the window; a width of 375 is a phone's.
    pub fn resize(&mut self, width: u32, height: u32) {
        let mobile = width < 600;
        let params = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
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

    /// The addresses that the page requested.
    pub fn requests(&self) -> Vec<&str> {
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }
}

/// The command that starts Chromium. Its pipe is file descriptors 3 (in) and 4 (out), where the shell puts our stdin and stdout.
fn command(program: &Path, profile: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null 1>&2"#, "sh"]).arg(program).args(FLAGS);
    // Chromium refuses to create its sandbox as root; it is not needed, because only our own file is shown.
    if rustix::process::geteuid().is_root() {
        command.arg("--no-sandbox");
    }
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
