//! The product's own browser, for tests: what it refuses ends the test.

use serde_json::{Value, json};
use std::path::Path;
use threadcount_report::browser::{Browser, find};

const READY: &str = "document.documentElement.dataset.ready === 'true'";

/// One page in one headless browser.
pub struct Page(Browser);

/// The browser.
pub fn chromium() -> std::path::PathBuf {
    find().unwrap_or_else(|error| panic!("{error}; `./dev test` installs Chromium"))
}

impl Page {
    /// Starts a browser with one empty page.
    pub fn start(program: &Path) -> Self {
        Self(Browser::start(program).unwrap())
    }

    /// One command and its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.0.call(method, params).unwrap()
    }

    /// Opens a file and draws all its pictures, those that no reader has come near as well.
    pub fn open(&mut self, file: &Path) {
        self.0.open(file).unwrap();
        self.draw_all();
    }

    fn draw_all(&mut self) {
        self.until(READY);
        self.evaluate("threadcount.paintAll()");
    }

    /// Loads the same page again and draws all its pictures.
    pub fn reload(&mut self) {
        self.0.reload().unwrap();
        self.draw_all();
    }

    /// Loads the same page again, as a reader does: what comes near is drawn, in the next frames.
    pub fn reload_as_a_reader(&mut self) {
        self.0.reload().unwrap();
        self.until(READY);
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))",
        );
    }

    /// Loads the same page again where its scripts do not run.
    pub fn reload_without_scripts(&mut self) {
        self.0.reload().unwrap();
        self.until("document.readyState === 'complete'");
    }

    /// The value of an expression; promises are awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        self.0.evaluate(expression).unwrap()
    }

    /// The text of an expression.
    pub fn text(&mut self, expression: &str) -> String {
        self.evaluate(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        if let Err(error) = self.0.until(expression) {
            panic!("{error}; {:?}", self.complaints());
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

    /// A window of this size; 375 is a phone.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.0.resize(width, height, 1).unwrap();
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
        self.0.events.iter().filter(wanted).collect()
    }

    /// Addresses that were asked for.
    pub fn requests(&self) -> Vec<&str> {
        let sent = self.0.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }
}
