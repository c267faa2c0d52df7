//! A small API server for tests: it runs the pods of a Job as processes on this machine, and answers like kube-apiserver 1.36.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use threadcount_load::merge::{Line, Message};
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::{Role, WebSocket};

const POLL: Duration = Duration::from_millis(20);

/// The faults that a test asks the fake API for.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    /// The user may not create Jobs.
    pub forbids_jobs: bool,
    /// The number of a pod for which there is no node.
    pub unscheduled: Option<u32>,
    /// The number of a pod, and by how many milliseconds the clock of its node is ahead.
    pub clock_ahead: Option<(u32, u64)>,
    /// The user may not write to pods.
    pub forbids_attach: bool,
    /// The first line for each pod is lost on its way.
    pub loses_first_input: bool,
    /// The number of a pod that is killed for its memory, and when.
    pub out_of_memory: Option<(u32, Moment)>,
    /// When each pod has written a second with a response, no request is answered and logs break off, until the pods were listed this many
    /// times without an answer.
    pub away: Option<u32>,
}

/// The moment at which a pod is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When it has written a second with a response.
    HasSent,
    /// When it would get the order for the load with this number.
    Ordered(u64),
}

pub struct FakeApi {
    address: SocketAddr,
    state: Arc<State>,
    folder: tempfile::TempDir,
}

#[derive(Default)]
struct State {
    trouble: Trouble,
    job: Mutex<Option<Value>>,
    pods: Mutex<Vec<Arc<FakePod>>>,
    is_removed: Mutex<bool>,
    jobs: Mutex<u32>,
    lists_in_vain: Mutex<u32>,
}

struct FakePod {
    index: u32,
    name: String,
    process: Option<u32>,
    stdin: Mutex<Option<ChildStdin>>,
    lost_inputs: Mutex<u32>,
    log: Mutex<Vec<u8>>,
    exit_code: Mutex<Option<i32>>,
    killed_at: Option<Moment>,
    has_sent: Mutex<bool>,
    is_out_of_memory: Mutex<bool>,
}

impl FakeApi {
    pub fn start(trouble: Trouble) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { trouble, ..State::default() });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(&stream, &state));
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "c", "cluster": {"server": format!("http://{address}")}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "fake", "context": {"cluster": "c", "user": "u", "namespace": "perf"}}],
        });
        std::fs::write(folder.path().join("config"), config.to_string()).unwrap();
        Self { address, state, folder }
    }

    /// A call of `threadcount load` for this cluster.
    pub fn load(&self, arguments: &[&str]) -> Command {
        let mut command = self.threadcount("load");
        command.args(arguments);
        command
    }

    /// A call of any command for this cluster.
    pub fn threadcount(&self, command: &str) -> Command {
        let name = command;
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadcount"));
        command.arg(name).env("KUBECONFIG", self.folder.path().join("config"));
        command
    }

    /// The number of Jobs that were made.
    pub fn jobs(&self) -> u32 {
        *self.state.jobs.lock().unwrap()
    }

    /// The Job as the program sent it.
    pub fn job(&self) -> Option<Value> {
        self.state.job.lock().unwrap().clone()
    }

    pub fn is_removed(&self) -> bool {
        *self.state.is_removed.lock().unwrap()
    }

    /// The number of processes that still run.
    pub fn running(&self) -> usize {
        let pods = self.state.pods.lock().unwrap();
        pods.iter().filter(|pod| pod.process.is_some() && pod.exit_code.lock().unwrap().is_none()).count()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for FakeApi {
    fn drop(&mut self) {
        self.state.pods.lock().unwrap().iter().for_each(|pod| pod.kill(rustix::process::Signal::KILL));
    }
}

impl State {
    fn is_away(&self) -> bool {
        let Some(lists) = self.trouble.away else { return false };
        let pods = self.pods.lock().unwrap();
        let have_sent = !pods.is_empty() && pods.iter().all(|pod| *pod.has_sent.lock().unwrap());
        have_sent && *self.lists_in_vain.lock().unwrap() < lists
    }

    fn make(&self, job: &Value) {
        *self.job.lock().unwrap() = Some(job.clone());
        *self.jobs.lock().unwrap() += 1;
        let count = job["spec"]["completions"].as_u64().unwrap() as u32;
        let pods = (0..count).map(|index| FakePod::start(index, job, &self.trouble));
        *self.pods.lock().unwrap() = pods.collect();
    }

    fn remove(&self) {
        *self.is_removed.lock().unwrap() = true;
        self.pods.lock().unwrap().iter().for_each(|pod| pod.kill(rustix::process::Signal::TERM));
    }

    /// The pods. Those of a removed Job are listed until they have ended.
    fn pods(&self) -> Vec<Arc<FakePod>> {
        let is_removed = *self.is_removed.lock().unwrap();
        let pods = self.pods.lock().unwrap();
        let is_there = |pod: &&Arc<FakePod>| !is_removed || pod.exit_code.lock().unwrap().is_none();
        pods.iter().filter(is_there).cloned().collect()
    }
}

impl FakePod {
    fn start(index: u32, job: &Value, trouble: &Trouble) -> Arc<Self> {
        let name = format!("{}-{index}-x7k2p", job["metadata"]["name"].as_str().unwrap());
        let is_unscheduled = trouble.unscheduled == Some(index);
        let mut child = (!is_unscheduled).then(|| start(index, &name, job));
        let pod = Arc::new(Self {
            index,
            name,
            process: child.as_ref().map(Child::id),
            stdin: Mutex::new(child.as_mut().and_then(|child| child.stdin.take())),
            lost_inputs: Mutex::new(u32::from(trouble.loses_first_input)),
            log: Mutex::default(),
            exit_code: Mutex::default(),
            killed_at: trouble.out_of_memory.filter(|(whose, _)| *whose == index).map(|(_, moment)| moment),
            has_sent: Mutex::default(),
            is_out_of_memory: Mutex::default(),
        });
        let ahead_ms = trouble.clock_ahead.filter(|(whose, _)| *whose == index).map_or(0, |(_, ms)| ms);
        if let Some(child) = child {
            let pod = Arc::clone(&pod);
            thread::spawn(move || pod.keep_log(child, ahead_ms));
        }
        pod
    }

    fn keep_log(&self, mut child: Child, ahead_ms: u64) {
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            let line = with_clock_ahead(&line, ahead_ms);
            self.log.lock().unwrap().extend_from_slice(format!("{line}\n").as_bytes());
            if has_response(&line) {
                *self.has_sent.lock().unwrap() = true;
                self.kill_at(Moment::HasSent);
            }
        }
        let code = child.wait().unwrap().code().unwrap_or(137);
        *self.exit_code.lock().unwrap() = Some(code);
    }

    fn kill_at(&self, moment: Moment) {
        if self.killed_at == Some(moment) {
            *self.is_out_of_memory.lock().unwrap() = true;
            self.kill(rustix::process::Signal::KILL);
        }
    }

    fn write(&self, input: &[u8]) {
        let orders = input.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        orders
            .filter_map(|order: Value| order["send"]["step"].as_u64())
            .for_each(|step| self.kill_at(Moment::Ordered(step)));
        let mut left_to_lose = self.lost_inputs.lock().unwrap();
        if *left_to_lose > 0 {
            *left_to_lose -= 1;
        } else if let Some(stdin) = self.stdin.lock().unwrap().as_mut() {
            let _ = stdin.write_all(input).and_then(|()| stdin.flush());
        }
    }

    fn kill(&self, signal: rustix::process::Signal) {
        let is_running = self.exit_code.lock().unwrap().is_none();
        let process = self.process.filter(|_| is_running);
        if let Some(pid) = process.and_then(|id| rustix::process::Pid::from_raw(id as i32)) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn json(&self) -> Value {
        let exit_code = *self.exit_code.lock().unwrap();
        let status = match (self.process, exit_code) {
            (None, _) => {
                json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient cpu."}]})
            }
            (_, None) => json!({"phase": "Running"}),
            (_, Some(0)) => json!({"phase": "Succeeded"}),
            (_, Some(code)) => {
                let reason = if *self.is_out_of_memory.lock().unwrap() { "OOMKilled" } else { "Error" };
                let terminated = json!({"exitCode": code, "reason": reason});
                json!({"phase": "Failed", "containerStatuses": [{"name": "load", "image": "", "imageID": "",
                    "ready": false, "restartCount": 0, "state": {"terminated": terminated}}]})
            }
        };
        json!({"metadata": {"name": self.name, "namespace": "perf",
            "annotations": {"batch.kubernetes.io/job-completion-index": self.index.to_string()}}, "status": status})
    }
}

fn start(index: u32, name: &str, job: &Value) -> Child {
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadcount"));
    command.args(container["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()));
    for variable in container["env"].as_array().unwrap() {
        let path = variable["valueFrom"]["fieldRef"]["fieldPath"].as_str();
        let node = format!("n{}", index % 2);
        let value = match path {
            Some("metadata.name") => name,
            Some(_) => &node,
            None => variable["value"].as_str().unwrap(),
        };
        command.env(variable["name"].as_str().unwrap(), value);
    }
    command.env("JOB_COMPLETION_INDEX", index.to_string());
    let reads_input = container["stdin"].as_bool().unwrap_or_default();
    command.stdin(if reads_input { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// The line as a process on a machine with a fast clock would write it.
fn with_clock_ahead(text: &str, ahead_ms: u64) -> String {
    let Some(Ok(mut line)) = Line::find(text).filter(|_| ahead_ms > 0) else { return text.to_owned() };
    if let Message::Clock { unix_ns } = &mut line.message {
        *unix_ns += ahead_ms * 1_000_000;
    }
    line.text().unwrap()
}

fn has_response(text: &str) -> bool {
    let line = Line::find(text).and_then(Result::ok);
    line.is_some_and(|line| matches!(line.message, Message::Second(second) if second.counts.ok > 0))
}

fn serve(stream: &TcpStream, state: &State) {
    let mut reader = BufReader::new(stream);
    while let Some(Request { method, target, body, websocket_key }) = read_request(&mut reader) {
        if state.is_away() {
            *state.lists_in_vain.lock().unwrap() += u32::from(target.contains("/pods?"));
            return;
        }
        if let Some(key) = websocket_key.filter(|_| !state.trouble.forbids_attach) {
            return attach(stream, state, &target, &key);
        }
        if answer(stream, state, (&method, &target, &body)).is_err() {
            return;
        }
    }
}

/// Passes the channel of standard input to the process, in order, until the client closes the connection.
fn attach(mut stream: &TcpStream, state: &State, target: &str, key: &str) {
    let pod = state
        .pods
        .lock()
        .unwrap()
        .iter()
        .find(|pod| target.contains(&format!("/{}/attach?", pod.name)))
        .cloned();
    let (Some(pod), true) = (pod, target.contains("stdin=true")) else {
        let _ = write_json(stream, 404, &status(404, "NotFound", "pods not found"));
        return;
    };
    let accept = derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\
         Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n"
    );
    if stream.write_all(head.as_bytes()).is_err() {
        return;
    }
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, None);
    let mut input = Vec::new();
    while let Ok(message) = socket.read() {
        if message.is_binary() {
            let bytes = message.into_data();
            assert_eq!(bytes.first(), Some(&0), "the channel of standard input");
            input.extend_from_slice(&bytes[1..]);
        }
    }
    pod.write(&input);
}

fn answer(
    stream: &TcpStream,
    state: &State,
    (method, target, body): (&str, &str, &str),
) -> std::io::Result<()> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.trim_start_matches("/api/v1").trim_start_matches("/apis/batch/v1");
    let parts: Vec<&str> = path.trim_start_matches("/namespaces/perf/").split('/').collect();
    match (method, &parts[..]) {
        ("GET", ["pods", _, "attach"]) if state.trouble.forbids_attach => {
            let message = "pods \"x\" is forbidden: User \"dev\" cannot create resource \"pods/attach\" in API group \"\" in the \
                namespace \"perf\"";
            write_json(stream, 403, &status(403, "Forbidden", message))
        }
        ("POST", ["jobs"]) if state.trouble.forbids_jobs => write_json(stream, 403, &forbidden()),
        ("POST", ["jobs"]) => {
            let job: Value = serde_json::from_str(body).unwrap();
            state.make(&job);
            write_json(stream, 201, &job)
        }
        ("DELETE", ["jobs", _]) => {
            state.remove();
            let done = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
            write_json(stream, 200, &done)
        }
        ("GET", ["pods"]) => {
            let name = query.split('&').find_map(|pair| pair.strip_prefix("fieldSelector=metadata.name%3D"));
            let is_asked_for = |pod: &&Arc<FakePod>| name.is_none_or(|name| name == pod.name);
            let items: Vec<Value> = state.pods().iter().filter(is_asked_for).map(|pod| pod.json()).collect();
            let list = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": items});
            write_json(stream, 200, &list)
        }
        ("GET", ["pods", name, "log"]) => {
            let pod = state.pods.lock().unwrap().iter().find(|pod| pod.name == *name).cloned();
            match pod {
                Some(pod) => write_log(stream, state, &pod),
                None => write_json(stream, 404, &status(404, "NotFound", "pods not found")),
            }
        }
        _ => write_json(stream, 404, &status(404, "NotFound", target)),
    }
}

fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": reason, "details": {}, "code": code})
}

fn forbidden() -> Value {
    let message = "jobs.batch is forbidden: User \"dev\" cannot create resource \"jobs\" in API group \"batch\" in the \
        namespace \"perf\"";
    status(403, "Forbidden", message)
}

fn write_json(mut stream: &TcpStream, code: u16, value: &Value) -> std::io::Result<()> {
    let text = value.to_string();
    let head = format!(
        "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        text.len()
    );
    stream.write_all((head + &text).as_bytes())
}

/// Follows the log until the process has ended, or the server goes away.
fn write_log(mut stream: &TcpStream, state: &State, pod: &FakePod) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")?;
    let mut sent = 0;
    loop {
        if state.is_away() {
            return Err(std::io::ErrorKind::ConnectionReset.into());
        }
        // The order matters: everything written before the end must be in the log.
        let has_ended = pod.exit_code.lock().unwrap().is_some();
        let new = pod.log.lock().unwrap()[sent..].to_vec();
        if !new.is_empty() {
            stream.write_all(format!("{:x}\r\n", new.len()).as_bytes())?;
            stream.write_all(&new)?;
            stream.write_all(b"\r\n")?;
            sent += new.len();
        } else if has_ended {
            return stream.write_all(b"0\r\n\r\n");
        }
        thread::sleep(POLL);
    }
}

struct Request {
    method: String,
    target: String,
    body: String,
    /// The key of a client that asks for another protocol.
    websocket_key: Option<String>,
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut websocket_key) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        let (name, value) = header.split_once(':')?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "sec-websocket-key" => websocket_key = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, target, body: String::from_utf8(body).ok()?, websocket_key })
}
