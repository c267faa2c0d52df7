//! Our end of a crossover session: it tells the agent to switch the threads of a server's requests, and to switch them back.
//!
//! The protocol is that of `dev.threadcount.probe.crossover`: a line of text per command, a line of JSON per reply. A thread of ours sends
//! signs of life; without them, or when the connection closes, the agent switches the server back by itself.

use super::attach::{self, AttachError, Connected};
use super::meeting::Meeting;
use crate::halt::Halt;
use crate::read_limit::ReadLimit;
use serde::Deserialize;
use std::io::{self, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use threadcount_load::clock::Nanos;
use threadcount_model::crossover::Treatment;

const LEVEL: &str = "crossover";
/// The agent ends the session after 800 ms without a command.
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_millis(150);
/// A JVM that does not reply in this time hangs: each command takes a few microseconds, and a search of the JVM's threads.
const REPLY_LIMIT: Duration = Duration::from_secs(15);

/// The reason why a crossover cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CrossoverError {
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The agent's own sentence.
    #[error("{0}")]
    Refused(String),
    #[error("The agent in the JVM no longer replies ({0}). It sets the server's threads back by itself.")]
    Lost(String),
    #[error("The agent in the JVM replied with something else than expected: {0}")]
    Reply(String),
}

impl CrossoverError {
    /// A JVM that does not reply may have been stopped.
    fn lost(pid: u32, error: &io::Error) -> Self {
        Self::Lost(Halt::find(pid).map_or_else(|| error.to_string(), |halt| halt.to_string()))
    }
}

/// A server whose threads can be switched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SwitchableServer {
    pub port: u16,
    /// Product and version.
    pub server: String,
    /// The size of its own pool; -1 if unknown.
    pub own_max_threads: i64,
    /// A sentence about the requests that are not switched.
    pub not_switched: Option<String>,
}

/// A port whose server cannot be switched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OtherServer {
    pub port: u16,
    pub server: String,
    /// The reason, as a clause.
    pub why: String,
}

/// The servers that listen in the JVM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Servers {
    pub targets: Vec<SwitchableServer>,
    pub refused: Vec<OtherServer>,
}

/// The tasks of the current period so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PeriodTasks {
    /// Tasks that began; a task may have several requests.
    pub began: u64,
    /// Whether all tasks began on the requested kind of thread.
    pub kind_as_asked: bool,
    /// The names of a sample of its threads, without their numbers, and how often each was seen.
    pub thread_names: serde_json::Map<String, serde_json::Value>,
}

/// The state of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct CrossoverStatus {
    /// The time on the load's clock.
    pub t_ns: Nanos,
    /// The tasks of this period; `None` if the server has its own threads, when tasks are not counted.
    pub current: Option<PeriodTasks>,
    /// Tasks of all earlier periods that still run or wait for a thread.
    pub earlier_tasks: u64,
}

/// A running session. When it is dropped, the server gets its own threads back.
pub struct CrossoverSession {
    channel: Arc<Mutex<Channel>>,
    stop: Option<Sender<()>>,
    heart: Option<JoinHandle<()>>,
    /// The folder of the socket, removed when the session is over.
    _meeting: Meeting,
}

impl CrossoverSession {
    /// Loads the agent into a JVM.
    ///
    /// # Errors
    /// The reason why the agent could not be loaded, as a sentence with advice.
    pub fn attach(pid: u32, jar: &Path) -> Result<Self, CrossoverError> {
        let Connected { stream, meeting } = attach::connect(pid, jar, LEVEL, None)?;
        let mut connection = Channel::new(pid, stream).map_err(|error| CrossoverError::lost(pid, &error))?;
        let hello = connection.read().map_err(|error| CrossoverError::lost(pid, &error))?;
        attach::check_begun(pid, &hello)?;
        attach::check_version(pid, Some(&hello))?;
        let connection = Arc::new(Mutex::new(connection));
        let (stop, stopped) = channel();
        let beating = Arc::clone(&connection);
        let heart = thread::spawn(move || {
            while stopped.recv_timeout(SIGN_OF_LIFE_EVERY) == Err(RecvTimeoutError::Timeout) {
                if command(&beating, "status").is_err() {
                    return;
                }
            }
        });
        Ok(Self { channel: connection, stop: Some(stop), heart: Some(heart), _meeting: meeting })
    }

    /// The servers that listen in the JVM.
    ///
    /// # Errors
    /// The session is over.
    pub fn servers(&self) -> Result<Servers, CrossoverError> {
        parsed(&command(&self.channel, "targets")?)
    }

    /// Switches the requests of a port to these threads.
    ///
    /// # Errors
    /// The agent's reason, or the session is over; the server then has its own threads.
    pub fn switch_to(&self, treatment: Treatment, port: u16) -> Result<CrossoverStatus, CrossoverError> {
        parsed(&command(&self.channel, &format!("switch {treatment} {port}"))?)
    }

    /// # Errors
    /// The session is over.
    pub fn status(&self) -> Result<CrossoverStatus, CrossoverError> {
        parsed(&command(&self.channel, "status")?)
    }

    /// Gives the server its own threads again.
    ///
    /// # Errors
    /// The session is over, which also switched the server back.
    pub fn restore(&self) -> Result<CrossoverStatus, CrossoverError> {
        parsed(&command(&self.channel, "restore")?)
    }
}

impl Drop for CrossoverSession {
    fn drop(&mut self) {
        let _ = self.restore();
        self.stop = None;
        if let Some(heart) = self.heart.take() {
            let _ = heart.join();
        }
    }
}

/// The connection to the agent, which carries one command at a time.
struct Channel {
    /// The JVM with the agent.
    pid: u32,
    stream: UnixStream,
    replies: BufReader<UnixStream>,
}

impl Channel {
    fn new(pid: u32, stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(REPLY_LIMIT))?;
        stream.set_write_timeout(Some(REPLY_LIMIT))?;
        Ok(Self { pid, replies: BufReader::new(stream.try_clone()?), stream })
    }

    fn read(&mut self) -> io::Result<String> {
        let line = ReadLimit::PROBE_LINE.read_line(&mut self.replies)?;
        if line.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(line) }
    }

    fn command(&mut self, text: &str) -> io::Result<String> {
        // Even if sending fails, the reply may explain why the session is over.
        let sent = self.stream.write_all(format!("{text}\n").as_bytes());
        let reply = self.read();
        if reply.is_err() {
            sent?;
        }
        reply
    }
}

#[derive(Deserialize)]
struct Reply {
    #[serde(rename = "type")]
    kind: String,
    why: Option<String>,
}

fn command(channel: &Mutex<Channel>, text: &str) -> Result<String, CrossoverError> {
    let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
    let pid = channel.pid;
    let line = channel.command(text).map_err(|error| CrossoverError::lost(pid, &error))?;
    let reply: Reply = parsed(&line)?;
    match reply.why {
        Some(why) if ["error", "ended", "refused"].contains(&reply.kind.as_str()) => {
            Err(CrossoverError::Refused(why))
        }
        _ => Ok(line),
    }
}

/// Sends commands to an agent that replies these bytes, for the fuzzing.
#[cfg(feature = "sample")]
pub(crate) fn read_replies(bytes: &[u8]) {
    const MOST_BYTES: usize = 1 << 16;
    /// The number of commands; nobody reads them, so more would wait for room in the socket.
    const COMMANDS: usize = 100;
    let Ok((ours, mut agent)) = UnixStream::pair() else { return };
    let is_sent = agent.write_all(&bytes[..bytes.len().min(MOST_BYTES)]).is_ok();
    let is_over = agent.shutdown(std::net::Shutdown::Write).is_ok();
    let (true, true, Ok(channel)) = (is_sent, is_over, Channel::new(std::process::id(), ours)) else {
        return;
    };
    let channel = Mutex::new(channel);
    for _ in 0..COMMANDS {
        match command(&channel, "status") {
            Ok(line) => drop((parsed::<Servers>(&line), parsed::<CrossoverStatus>(&line))),
            Err(CrossoverError::Lost(_)) => return,
            Err(other) => assert!(!other.to_string().is_empty()),
        }
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(line: &str) -> Result<T, CrossoverError> {
    serde_json::from_str(line)
        .map_err(|error| CrossoverError::Reply(format!("{error} in {}", line.trim_end())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead;

    /// The agent's end, which answers each command with the next of these lines.
    fn with_replies(replies: &'static [&'static str]) -> (Mutex<Channel>, JoinHandle<Vec<String>>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let agent = thread::spawn(move || {
            let mut commands = BufReader::new(theirs.try_clone().unwrap()).lines();
            let mut stream = &theirs;
            let mut taken = Vec::new();
            for reply in replies {
                taken.push(commands.next().unwrap().unwrap());
                writeln!(stream, "{reply}").unwrap();
            }
            taken
        });
        (Mutex::new(Channel::new(std::process::id(), ours).unwrap()), agent)
    }

    #[test]
    fn a_command_has_its_reply_and_a_refusal_is_the_agents_own_sentence() {
        let (channel, agent) = with_replies(&[
            r#"{"type":"switched","t_ns":7,"before_ns":6,"port":80,"current":{"began":0,"kind_as_asked":true,"thread_names":{}},"earlier_tasks":0}"#,
            r#"{"type":"error","t_ns":8,"why":"Port 81 cannot be switched: Netty: it has loops."}"#,
        ]);
        let status: CrossoverStatus = parsed(&command(&channel, "switch virtual 80").unwrap()).unwrap();
        assert_eq!((status.t_ns, status.earlier_tasks), (7, 0));
        let refused = command(&channel, "switch virtual 81").unwrap_err().to_string();
        assert_eq!(refused, "Port 81 cannot be switched: Netty: it has loops.");
        assert_eq!(agent.join().unwrap(), ["switch virtual 80", "switch virtual 81"]);
        assert!(matches!(command(&channel, "status"), Err(CrossoverError::Lost(_))));
    }

    #[test]
    fn what_listens_is_read_with_the_reason_of_what_cannot_be_switched() {
        let line = r#"{"type":"targets","t_ns":1,"targets":[{"port":38759,"server":"Tomcat 11.0.24","own_executor":"x","name":"n","own_max_threads":200,"not_switched":null}],"refused":[{"port":9090,"server":"Netty","why":"it has loops"}]}"#;
        let servers: Servers = parsed(line).unwrap();
        assert_eq!((servers.targets[0].port, servers.targets[0].own_max_threads), (38_759, 200));
        assert_eq!(servers.refused[0].why, "it has loops");
    }
}
