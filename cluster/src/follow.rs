//! Follows a Job from its creation to its removal on a thread of its own, and reports what happens as events.

use super::ClusterLoad;
use super::api_error::ClusterError;
use super::api_server::{ApiServer, PodLog};
use super::job::{GRACE_S, job};
use super::pod_state::{Loss, Pod, PodState};
use futures::{AsyncBufReadExt, TryStreamExt};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use threadcount_load::clock::unix_now_ns;
use threadcount_load::merge::{Line, Message};
use tokio::sync::mpsc::UnboundedReceiver;
pub use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// The interval at which the stop flag is checked and the pods of a small Job are listed, with one request for all pods.
const LIST_EVERY: Duration = Duration::from_millis(500);
/// The added interval per pod: large Jobs are listed less often, because each pod adds about 7 kB to the answer.
const LIST_EVERY_PER_POD: Duration = Duration::from_millis(5);
/// The timeout of a request to the API server.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// A pod that has written nothing for this time is lost: pods write at least every five seconds, and Kubernetes takes minutes to notice.
const LONGEST_SILENCE: Duration = Duration::from_secs(20);
/// The time for which the log of a lost pod is still read. If its node is gone, the log never ends.
const LOST_LOG_WITHIN: Duration = Duration::from_secs(10);
/// The pause before a log that ended too early is read again.
const LOG_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// The longest time that the API server may be away. The pods go on meanwhile, and their logs are then read again from the beginning.
const LONGEST_AWAY: Duration = Duration::from_secs(60);
/// The time within which a Job must end after its removal: the grace period of its pods and ten seconds more.
const END_WITHIN: Duration = Duration::from_secs(GRACE_S as u64 + 10);
/// The most attempts in a row to read a log that bring no new line.
const LOG_TRIES: u32 = 20;

/// The most attempts to write a line to a pod, half a second apart; few, because the line is about a load that begins soon.
const TELL_TRIES: u32 = 4;

/// A line for the standard input of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodInput {
    /// The number of the load that the line is about.
    pub step: u32,
    pub pod: String,
    pub line: String,
}

impl PodInput {
    /// Frames the text with line breaks, so that it is not appended to what a broken connection left of another line.
    #[must_use]
    pub fn new(step: u32, pod: String, text: &str) -> Self {
        Self { step, pod, line: format!("\n{text}\n") }
    }
}

/// An event of a Job.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The Job was created.
    Created { namespace: String },
    /// The state of a pod changed.
    Pod { index: u32, name: String, state: PodState },
    /// Somebody other than us told a pod to end.
    Ending { index: u32, name: String, why: Loss },
    /// A line of a pod's log, with the time at which it was read.
    Line { index: u32, text: String, read_unix_ns: u64 },
    /// A line could not be written to a pod.
    NotTold { step: u32, name: String, error: ClusterError },
    /// The API server stopped answering (`true`), or answers again (`false`).
    Away(bool),
    /// The last event: nothing of the Job is left in the cluster. With an error, following it was given up.
    End(Result<(), ClusterError>),
    /// Kubernetes cannot remove this pod, because its node does not answer.
    Stays { namespace: String, name: String },
    /// The Job could not be removed, so the user has to remove it.
    NotRemoved { namespace: String, error: ClusterError },
}

/// Creates the Job, follows it to its end or until `stop` is set, then removes it. All lines in one message of `inputs` are written to the
/// pods at once. Blocks, so call it on a thread of its own.
pub fn follow(
    load: &ClusterLoad,
    inputs: UnboundedReceiver<Vec<PodInput>>,
    stop: &AtomicBool,
    events: &Sender<Event>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(load, inputs, stop, events)),
        Err(error) => Err(ClusterError::Client(error.to_string())),
    };
    let _ = events.send(Event::End(result));
}

async fn run(
    load: &ClusterLoad,
    inputs: UnboundedReceiver<Vec<PodInput>>,
    stop: &AtomicBool,
    events: &Sender<Event>,
) -> Result<(), ClusterError> {
    let server = ApiServer::connect(load.context.as_deref(), load.namespace.as_deref()).await?;
    server.create_job(&job(load)).await?;
    let namespace = server.namespace().to_owned();
    let _ = events.send(Event::Created { namespace: namespace.clone() });
    let mut follower = Follower::new(load, server.clone(), events);
    let telling = tokio::spawn(tell_all(server.clone(), inputs, events.clone()));
    let followed = follower.follow_all(stop).await;
    telling.abort();
    // Read what the pods still write after they are told to end.
    match remove(&server, load).await {
        Ok(()) => {
            follower.last_lines().await;
            follower.name_those_that_stay(&namespace).await;
        }
        Err(error) => {
            let _ = events.send(Event::NotRemoved { namespace, error });
            // The pods were not told to end, so their logs would not end either.
            follower.logs.shutdown().await;
        }
    }
    followed
}

/// Writes the lines that arrive to their pods.
async fn tell_all(server: ApiServer, mut inputs: UnboundedReceiver<Vec<PodInput>>, events: Sender<Event>) {
    // Each pod has a task of its own, so an unreachable pod delays no other.
    let mut telling = JoinSet::new();
    while let Some(inputs) = inputs.recv().await {
        for input in inputs {
            telling.spawn(tell(server.clone(), input, events.clone()));
        }
        while telling.try_join_next().is_some() {}
    }
}

async fn tell(server: ApiServer, PodInput { step, pod, line }: PodInput, events: Sender<Event>) {
    let mut tries = 1;
    while let Err(error) = in_time(server.write(&pod, &line)).await {
        if tries == TELL_TRIES || !error.may_pass() {
            let _ = events.send(Event::NotTold { step, name: pod, error });
            return;
        }
        tries += 1;
        sleep(LIST_EVERY).await;
    }
}

/// Removes the Job and its pods; tries again while the API server is away.
async fn remove(server: &ApiServer, load: &ClusterLoad) -> Result<(), ClusterError> {
    let began = Instant::now();
    loop {
        let Err(error) = in_time(server.delete_job(&load.name)).await else { return Ok(()) };
        if !error.may_pass() || began.elapsed() > LONGEST_AWAY {
            return Err(error);
        }
        sleep(LIST_EVERY).await;
    }
}

/// The interval between two lists of this many pods.
fn list_every(pods: u32) -> Duration {
    // A tenth less, because the time is checked every half second and each round takes a little longer.
    (LIST_EVERY_PER_POD * pods).max(LIST_EVERY) * 9 / 10
}

/// The answer, or [`ClusterError::Unreachable`] after [`ANSWER_WITHIN`].
async fn in_time<T>(answer: impl Future<Output = Result<T, ClusterError>>) -> Result<T, ClusterError> {
    let late = |_| Err(ClusterError::Unreachable("it takes too long to answer".to_owned()));
    timeout(ANSWER_WITHIN, answer).await.unwrap_or_else(late)
}

/// One pod as the follower last saw it.
struct Followed {
    name: String,
    state: PodState,
    log: Option<AbortHandle>,
    heard: Heard,
    /// The reason why the pod was told to end, if it was.
    ending: Option<Loss>,
    lost_since: Option<Instant>,
}

/// The time at which the last line of a pod was read.
#[derive(Clone)]
struct Heard(Arc<Mutex<Instant>>);

impl Heard {
    fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn again(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// The time for which the pod has been silent, counted only since the API server last came back.
    fn silence(&self, answers_since: Instant, now: Instant) -> Duration {
        let since = (*self.0.lock().unwrap_or_else(PoisonError::into_inner)).max(answers_since);
        now.saturating_duration_since(since)
    }
}

impl Followed {
    fn new(name: &str) -> Self {
        let (state, heard) = (PodState::Waiting(None), Heard::now());
        Self { name: name.to_owned(), state, log: None, heard, ending: None, lost_since: None }
    }

    /// The loss of a pod that is running but silent.
    fn silent(&self, answers_since: Instant, now: Instant) -> Option<Loss> {
        let silence = self.heard.silence(answers_since, now);
        let is_silent = self.state == PodState::Running && silence > LONGEST_SILENCE;
        is_silent.then(|| Loss::Silent { seconds: silence.as_secs(), pod: self.name.clone() })
    }

    fn set(&mut self, state: PodState) {
        self.lost_since = matches!(state, PodState::Lost(_)).then(Instant::now);
        self.state = state;
    }

    fn give_up_log(&self) {
        let is_late = self.lost_since.is_some_and(|since| since.elapsed() > LOST_LOG_WITHIN);
        if let Some(log) = self.log.as_ref().filter(|_| is_late) {
            log.abort();
        }
    }
}

struct Follower<'e> {
    load: &'e ClusterLoad,
    server: ApiServer,
    events: &'e Sender<Event>,
    known: BTreeMap<u32, Followed>,
    logs: JoinSet<Result<(), ClusterError>>,
    away_since: Option<Instant>,
    answers_since: Instant,
}

impl<'e> Follower<'e> {
    fn new(load: &'e ClusterLoad, server: ApiServer, events: &'e Sender<Event>) -> Self {
        let (known, logs) = (BTreeMap::new(), JoinSet::new());
        Self { load, server, events, known, logs, away_since: None, answers_since: Instant::now() }
    }

    /// Runs until each pod has ended and its log is read, or `stop` is set.
    async fn follow_all(&mut self, stop: &AtomicBool) -> Result<(), ClusterError> {
        let mut next_list = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            if Instant::now() >= next_list {
                self.look().await?;
                next_list = Instant::now() + list_every(self.load.pods);
            }
            while let Some(done) = self.logs.try_join_next() {
                done.unwrap_or(Ok(()))?;
            }
            if self.has_ended() {
                return Ok(());
            }
            sleep(LIST_EVERY).await;
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        let are_over = self.known.values().all(|pod| is_over(&pod.state));
        self.known.len() == self.load.pods as usize && are_over && self.logs.is_empty()
    }

    /// Lists the pods once and updates their states.
    async fn look(&mut self) -> Result<(), ClusterError> {
        let pods = match in_time(self.server.pods_of(&self.load.name)).await {
            Ok(pods) => pods,
            Err(error) => return self.is_away(error),
        };
        if self.away_since.take().is_some() {
            self.answers_since = Instant::now();
            let _ = self.events.send(Event::Away(false));
        }
        let mut seen = Vec::with_capacity(pods.len());
        for pod in &pods {
            if let Some(index) = pod.index() {
                seen.push(index);
                self.update(index, pod);
            }
        }
        let gone: Vec<u32> = self.known.keys().copied().filter(|index| !seen.contains(index)).collect();
        for index in gone {
            self.deleted(index);
        }
        self.find_silent();
        self.known.values().for_each(Followed::give_up_log);
        Ok(())
    }

    fn is_away(&mut self, error: ClusterError) -> Result<(), ClusterError> {
        let ClusterError::Unreachable(message) = error else { return Err(error) };
        if self.away_since.is_none() {
            let _ = self.events.send(Event::Away(true));
        }
        let away = self.away_since.get_or_insert_with(Instant::now).elapsed();
        if away > LONGEST_AWAY {
            return Err(ClusterError::Away { seconds: away.as_secs(), message });
        }
        Ok(())
    }

    fn update(&mut self, index: u32, pod: &Pod) {
        let (name, state) = (pod.name().to_owned(), pod.state());
        let known = self.known.entry(index).or_insert_with(|| Followed::new(&name));
        if !matches!(state, PodState::Waiting(_)) && known.log.is_none() {
            known.heard.again();
            let log = PodLines {
                name: name.clone(),
                index,
                heard: known.heard.clone(),
                events: self.events.clone(),
            };
            known.log = Some(self.logs.spawn(log.read(self.server.clone())));
        }
        if let Some(why) = pod.told_to_end().filter(|_| known.ending.is_none() && !is_over(&known.state)) {
            known.ending = Some(why.clone());
            let _ = self.events.send(Event::Ending { index, name: name.clone(), why });
        }
        // A lost pod stays lost even if the Job makes a replacement.
        if known.state != state && !matches!(known.state, PodState::Lost(_)) {
            known.set(state.clone());
            let _ = self.events.send(Event::Pod { index, name, state });
        }
    }

    fn deleted(&mut self, index: u32) {
        let Some(known) = self.known.get_mut(&index) else { return };
        if !is_over(&known.state) {
            known.set(PodState::Lost(known.ending.clone().unwrap_or(Loss::Deleted)));
            let (name, state) = (known.name.clone(), known.state.clone());
            let _ = self.events.send(Event::Pod { index, name, state });
        }
    }

    fn find_silent(&mut self) {
        for (&index, known) in &mut self.known {
            if let Some(loss) = known.silent(self.answers_since, Instant::now()) {
                known.set(PodState::Lost(loss));
                let (name, state) = (known.name.clone(), known.state.clone());
                let _ = self.events.send(Event::Pod { index, name, state });
            }
        }
    }

    /// Gives pods that were silent the usual time to end, then reports each that is still there.
    async fn name_those_that_stay(&self, namespace: &str) {
        let is_silent = |known: &&Followed| matches!(known.state, PodState::Lost(Loss::Silent { .. }));
        for known in self.known.values().filter(is_silent) {
            let until = Instant::now() + END_WITHIN;
            let is_there =
                async || in_time(self.server.pod(&known.name)).await.is_ok_and(|pod| pod.is_some());
            let mut stays = is_there().await;
            while stays && Instant::now() < until {
                sleep(LIST_EVERY).await;
                stays = is_there().await;
            }
            if stays {
                let (namespace, name) = (namespace.to_owned(), known.name.clone());
                let _ = self.events.send(Event::Stays { namespace, name });
            }
        }
    }

    /// Reads what is still written to the logs after the Job was removed.
    async fn last_lines(&mut self) {
        let all = async { while self.logs.join_next().await.is_some() {} };
        let _ = timeout(END_WITHIN, all).await;
        self.logs.shutdown().await;
    }
}

/// Reads the log of one pod.
struct PodLines {
    name: String,
    index: u32,
    heard: Heard,
    events: Sender<Event>,
}

impl PodLines {
    /// Follows the log until the process reports its end. If the log breaks off, it is read again from the beginning: the lines are
    /// numbered, so repeated ones are recognised.
    async fn read(self, server: ApiServer) -> Result<(), ClusterError> {
        let Self { name, index, heard, events } = self;
        let (mut was_over, mut tries) = (false, 0);
        while tries < LOG_TRIES {
            tries += 1;
            match server.log(&name).await {
                Ok(PodLog::Stream(stream)) => {
                    let mut lines = Box::pin(stream).lines();
                    while let Ok(Some(text)) = lines.try_next().await {
                        let is_last = is_last(&text);
                        let read_unix_ns = unix_now_ns();
                        heard.again();
                        tries = 0;
                        let _ = events.send(Event::Line { index, text, read_unix_ns });
                        if is_last {
                            return Ok(());
                        }
                    }
                }
                Ok(PodLog::NotNow) => {}
                Ok(PodLog::Gone) => return Ok(()),
                Err(error) if error.may_pass() => sleep(LONGEST_AWAY / LOG_TRIES).await,
                Err(error) => return Err(error),
            }
            // Read the log of a pod that has ended once more: only now is it complete.
            let is_over =
                server.pod(&name).await.is_ok_and(|pod| pod.is_none_or(|pod| is_over(&pod.state())));
            if std::mem::replace(&mut was_over, is_over) && is_over {
                return Ok(());
            }
            sleep(LOG_AGAIN_AFTER).await;
        }
        Ok(())
    }
}

const fn is_over(state: &PodState) -> bool {
    matches!(state, PodState::Done | PodState::Lost(_))
}

/// Whether this is the last line of the process. A process that sends several loads never writes one.
fn is_last(text: &str) -> bool {
    let line = Line::find(text).and_then(Result::ok).filter(|line| line.step == 0);
    line.is_some_and(|line| matches!(line.message, Message::End(_) | Message::Failed { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pods_are_listed_twice_a_second_and_many_less_often() {
        assert_eq!(
            (list_every(2), list_every(100)),
            (Duration::from_millis(450), Duration::from_millis(450))
        );
        assert_eq!(list_every(1_000), Duration::from_millis(4_500));
    }

    #[test]
    fn a_running_pod_is_silent_only_while_the_api_server_answers() {
        let began = Instant::now();
        let now = began + LONGEST_SILENCE * 2;
        let mut pod = Followed::new("load-1");
        *pod.heard.0.lock().unwrap() = began;
        assert_eq!(pod.silent(began, now), None, "it does not run yet");
        pod.set(PodState::Running);
        assert!(matches!(pod.silent(began, now), Some(Loss::Silent { seconds: 40, .. })));
        assert_eq!(pod.silent(now, now), None, "its lines cannot have come");
        *pod.heard.0.lock().unwrap() = now;
        assert_eq!(pod.silent(began, now), None);
    }
}
