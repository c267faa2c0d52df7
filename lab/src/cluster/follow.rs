//! A Job from its creation to its removal, on a thread of its own: what happens goes to the caller as events.

use super::ClusterLoad;
use super::api_error::{ClusterError, Request};
use super::job::{CONTAINER, GRACE_S, JOB_NAME_LABEL, job};
use super::pod_state::{Loss, PodState, index, state};
use futures::{AsyncBufReadExt, TryStreamExt};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, LogParams, PostParams};
use kube::config::KubeConfigOptions;
use kube::{Api, Client, Config, ResourceExt};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use threadcount_load::clock::unix_now_ns;
use threadcount_load::merge::{Line, Message};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// How often pods are listed, and the flag to stop is looked at. One request for all pods.
const LIST_EVERY: Duration = Duration::from_millis(500);
/// A list that has not come by then will not.
const LIST_WITHIN: Duration = Duration::from_secs(10);
/// So long the log of a lost pod is still read: of a node that is gone it never ends.
const LOST_LOG_WITHIN: Duration = Duration::from_secs(10);
/// A log that ended too early is read again after this.
const LOG_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// So long the API server may be away. Pods go on meanwhile, and their logs are read again from the beginning.
const LONGEST_AWAY: Duration = Duration::from_secs(60);
/// What a Job is given to end after it was told to, beyond the grace of its pods.
const END_WITHIN: Duration = Duration::from_secs(GRACE_S as u64 + 10);
/// After a pod has ended its log is complete; it is read this many times at most.
const LOG_TRIES: u32 = 20;

/// What happens to a Job.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It was made.
    Created { namespace: String },
    /// A pod is in another state than before.
    Pod { index: u32, name: String, state: PodState },
    /// A line of a pod's log, and when it was read.
    Line { index: u32, text: String, read_unix_ns: u64 },
    /// The API server does not answer, or does so again.
    Away(bool),
    /// Nothing of the Job is left in the cluster, and no event follows. With an error it was given up.
    End(Result<(), ClusterError>),
    /// The Job could not be removed: the user has to do it.
    NotRemoved { namespace: String, error: ClusterError },
}

/// Makes the Job and follows it to its end, or until `stop` is set; then removes it. Blocks; call it on a thread of its own.
pub fn follow(load: &ClusterLoad, stop: &AtomicBool, events: &Sender<Event>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(load, stop, events)),
        Err(error) => Err(ClusterError::Client(error.to_string())),
    };
    let _ = events.send(Event::End(result));
}

async fn run(load: &ClusterLoad, stop: &AtomicBool, events: &Sender<Event>) -> Result<(), ClusterError> {
    let (client, namespace) = client(load).await?;
    let jobs: Api<Job> = Api::namespaced(client.clone(), &namespace);
    let created = jobs.create(&PostParams::default(), &job(load)).await;
    created.map_err(|error| ClusterError::of(Request::CreateJob, &namespace, &error))?;
    let _ = events.send(Event::Created { namespace: namespace.clone() });
    let mut follower = Follower::new(load, client, &namespace, events);
    let followed = follower.to_the_end(stop).await;
    // What pods tell when they are told to end is still read.
    let removed = remove(&jobs, load, &namespace).await;
    if let Err(error) = removed {
        let _ = events.send(Event::NotRemoved { namespace: namespace.clone(), error });
    }
    follower.last_lines().await;
    followed
}

async fn client(load: &ClusterLoad) -> Result<(Client, String), ClusterError> {
    let wrong = |error: &dyn std::fmt::Display| ClusterError::Config(error.to_string());
    let config = match &load.context {
        Some(context) => {
            let options =
                KubeConfigOptions { context: Some(context.clone()), ..KubeConfigOptions::default() };
            Config::from_kubeconfig(&options).await.map_err(|error| wrong(&error))?
        }
        None => Config::infer().await.map_err(|error| wrong(&error))?,
    };
    let namespace = load.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
    Ok((Client::try_from(config).map_err(|error| wrong(&error))?, namespace))
}

/// Removes the Job with its pods, and tries again while the API server is away.
async fn remove(jobs: &Api<Job>, load: &ClusterLoad, namespace: &str) -> Result<(), ClusterError> {
    let began = Instant::now();
    loop {
        let background = DeleteParams::background();
        let error = match timeout(LIST_WITHIN, jobs.delete(&load.name, &background)).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => return Ok(()),
            Ok(Err(error)) => ClusterError::of(Request::DeleteJob, namespace, &error),
            Err(_) => ClusterError::Unreachable("it takes too long to answer".to_owned()),
        };
        if !error.may_pass() || began.elapsed() > LONGEST_AWAY {
            return Err(error);
        }
        sleep(LIST_EVERY).await;
    }
}

/// What is known of one pod.
struct Followed {
    name: String,
    state: PodState,
    log: Option<AbortHandle>,
    lost_since: Option<Instant>,
}

impl Followed {
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
    pods: Api<Pod>,
    namespace: String,
    events: &'e Sender<Event>,
    known: BTreeMap<u32, Followed>,
    logs: JoinSet<Result<(), ClusterError>>,
    away_since: Option<Instant>,
}

impl<'e> Follower<'e> {
    fn new(load: &'e ClusterLoad, client: Client, namespace: &str, events: &'e Sender<Event>) -> Self {
        let pods = Api::namespaced(client, namespace);
        let (known, logs) = (BTreeMap::new(), JoinSet::new());
        Self { load, pods, namespace: namespace.to_owned(), events, known, logs, away_since: None }
    }

    /// Until each pod has ended and its log is read, or it shall stop.
    async fn to_the_end(&mut self, stop: &AtomicBool) -> Result<(), ClusterError> {
        while !stop.load(Ordering::Relaxed) {
            self.look().await?;
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

    /// Lists the pods once.
    async fn look(&mut self) -> Result<(), ClusterError> {
        let label = format!("{JOB_NAME_LABEL}={}", self.load.name);
        let params = ListParams::default().labels(&label);
        let listed = match timeout(LIST_WITHIN, self.pods.list(&params)).await {
            Ok(Ok(listed)) => listed,
            Ok(Err(error)) => {
                return self.is_away(ClusterError::of(Request::ListPods, &self.namespace, &error));
            }
            Err(_) => {
                return self.is_away(ClusterError::Unreachable("it takes too long to answer".to_owned()));
            }
        };
        if self.away_since.take().is_some() {
            let _ = self.events.send(Event::Away(false));
        }
        let mut seen = Vec::with_capacity(listed.items.len());
        for pod in &listed.items {
            if let Some(index) = index(pod) {
                seen.push(index);
                self.update(index, pod.name_any(), state(pod));
            }
        }
        let gone: Vec<u32> = self.known.keys().copied().filter(|index| !seen.contains(index)).collect();
        for index in gone {
            self.deleted(index);
        }
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

    fn update(&mut self, index: u32, name: String, state: PodState) {
        let has_begun = !matches!(state, PodState::Waiting(_));
        let known = self.known.entry(index).or_insert_with(|| Followed {
            name: name.clone(),
            state: PodState::Waiting(None),
            log: None,
            lost_since: None,
        });
        if has_begun && known.log.is_none() {
            let log =
                read_log(self.pods.clone(), name.clone(), index, self.namespace.clone(), self.events.clone());
            known.log = Some(self.logs.spawn(log));
        }
        // A lost pod stays lost, also where the Job makes another one.
        if known.state != state && !matches!(known.state, PodState::Lost(_)) {
            known.set(state.clone());
            let _ = self.events.send(Event::Pod { index, name, state });
        }
    }

    fn deleted(&mut self, index: u32) {
        let Some(known) = self.known.get_mut(&index) else { return };
        if !is_over(&known.state) {
            known.set(PodState::Lost(Loss::Deleted));
            let (name, state) = (known.name.clone(), known.state.clone());
            let _ = self.events.send(Event::Pod { index, name, state });
        }
    }

    /// What is still written to the logs after the Job was removed.
    async fn last_lines(&mut self) {
        let all = async { while self.logs.join_next().await.is_some() {} };
        let _ = timeout(END_WITHIN, all).await;
        self.logs.shutdown().await;
    }
}

/// Follows a log until the process has told that it ended. Where it breaks off it is read again: lines that come twice are known by
/// their numbers.
async fn read_log(
    pods: Api<Pod>,
    name: String,
    index: u32,
    namespace: String,
    events: Sender<Event>,
) -> Result<(), ClusterError> {
    let itself = ListParams::default().fields(&format!("metadata.name={name}"));
    let mut was_over = false;
    let params = LogParams { container: Some(CONTAINER.to_owned()), follow: true, ..LogParams::default() };
    for _ in 0..LOG_TRIES {
        match pods.log_stream(&name, &params).await {
            Ok(stream) => {
                let mut lines = Box::pin(stream).lines();
                while let Ok(Some(text)) = lines.try_next().await {
                    let is_last = is_last(&text);
                    let read_unix_ns = unix_now_ns();
                    let _ = events.send(Event::Line { index, text, read_unix_ns });
                    if is_last {
                        return Ok(());
                    }
                }
            }
            // The container is not there yet, or no more.
            Err(kube::Error::Api(status)) if status.code == 400 => {}
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
            Err(error) => {
                let error = ClusterError::of(Request::ReadLog, &namespace, &error);
                if !error.may_pass() {
                    return Err(error);
                }
                sleep(LONGEST_AWAY / LOG_TRIES).await;
            }
        }
        // The log of a pod that is over has once more all that there ever will be.
        let listed = pods.list(&itself).await;
        let is_over = listed.is_ok_and(|it| it.items.iter().all(|pod| is_over(&state(pod))));
        if std::mem::replace(&mut was_over, is_over) && is_over {
            return Ok(());
        }
        sleep(LOG_AGAIN_AFTER).await;
    }
    Ok(())
}

const fn is_over(state: &PodState) -> bool {
    matches!(state, PodState::Done | PodState::Lost(_))
}

/// Has the process told everything?
fn is_last(text: &str) -> bool {
    let line = Line::find(text).and_then(Result::ok);
    line.is_some_and(|line| matches!(line.message, Message::End(_) | Message::Failed { .. }))
}
