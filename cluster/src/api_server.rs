//! The client of a cluster's API server. It decodes only the fields that we use: the types of all Kubernetes fields would make
//! the program megabytes larger.

use super::api_error::{ClusterError, Request};
use super::job::{CONTAINER, JOB_NAME_LABEL};
use super::pod_state::Pod;
use futures::{AsyncBufRead, SinkExt, StreamExt};
use kube::api::{AttachParams, DeleteParams, ListParams, LogParams, PostParams};
use kube::config::KubeConfigOptions;
use kube::{Client, Config, core};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::fmt::Display;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

/// The channel of standard input: the first byte of each message on the connection to a container.
const STDIN: u8 = 0;
/// The channel on which the API server reports an error.
const ERRORS: u8 = 3;
const CLOSES_WITHIN: Duration = Duration::from_secs(2);
/// The largest part of a text that is sent in one message.
const MESSAGE_BYTES: usize = 16_384;

/// One namespace of a cluster.
#[derive(Clone)]
pub struct ApiServer {
    client: Client,
    namespace: String,
}

/// The log of a pod.
pub enum PodLog<S> {
    /// The log from its beginning.
    Stream(S),
    /// The container has not started yet, or is gone already.
    NotNow,
    /// The pod no longer exists.
    Gone,
}

#[derive(Deserialize)]
struct PodList {
    /// Go may write an empty list as `null`.
    items: Option<Vec<Pod>>,
}

impl ApiServer {
    /// Connects by the kubeconfig, or by the pod's service account. Without a namespace, the context's is used.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub async fn connect(context: Option<&str>, namespace: Option<&str>) -> Result<Self, ClusterError> {
        let wrong = |error: &dyn Display| ClusterError::Config(error.to_string());
        let config = match context {
            Some(context) => {
                let options = KubeConfigOptions { context: Some(context.to_owned()), ..Default::default() };
                Config::from_kubeconfig(&options).await.map_err(|error| wrong(&error))?
            }
            None => Config::infer().await.map_err(|error| wrong(&error))?,
        };
        let namespace = namespace.unwrap_or(&config.default_namespace);
        let namespace = crate::namespace(namespace)
            .map_err(|why| wrong(&format!("the namespace `{namespace}` is no name: {why}")))?;
        Ok(Self { client: Client::try_from(config).map_err(|error| wrong(&error))?, namespace })
    }

    /// The namespace in which the Job and its pods live.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Creates a Job.
    ///
    /// # Errors
    /// The server's answer, if it is an error.
    pub async fn create_job(&self, job: &Value) -> Result<(), ClusterError> {
        let request = self.jobs().create(&PostParams::default(), job.to_string().into_bytes());
        let created = self.client.request::<IgnoredAny>(self.built(Request::CreateJob, request)?).await;
        created.map(drop).map_err(|error| self.error(Request::CreateJob, &error))
    }

    /// The pods of a Job.
    ///
    /// # Errors
    /// The server's answer, if it is an error.
    pub async fn pods_of(&self, job: &str) -> Result<Vec<Pod>, ClusterError> {
        self.list(&ListParams::default().labels(&format!("{JOB_NAME_LABEL}={job}"))).await
    }

    /// The pod with this name, or `None` if it is gone.
    ///
    /// # Errors
    /// The server's answer, if it is an error.
    pub async fn pod(&self, name: &str) -> Result<Option<Pod>, ClusterError> {
        // Lists with a filter, because we need the right to list pods anyway.
        let listed = self.list(&ListParams::default().fields(&format!("metadata.name={name}"))).await?;
        Ok(listed.into_iter().next())
    }

    async fn list(&self, params: &ListParams) -> Result<Vec<Pod>, ClusterError> {
        let request = self.pods().list(params);
        let listed = self.client.request::<PodList>(self.built(Request::ListPods, request)?).await;
        listed
            .map(|list| list.items.unwrap_or_default())
            .map_err(|error| self.error(Request::ListPods, &error))
    }

    /// Opens the log of a pod and follows it.
    ///
    /// # Errors
    /// The server's answer, if it is an error.
    pub async fn log(&self, pod: &str) -> Result<PodLog<impl AsyncBufRead + use<>>, ClusterError> {
        let params =
            LogParams { container: Some(CONTAINER.to_owned()), follow: true, ..LogParams::default() };
        let request = self.pods().logs(pod, &params);
        match self.client.request_stream(self.built(Request::ReadLog, request)?).await {
            Ok(stream) => Ok(PodLog::Stream(stream)),
            Err(kube::Error::Api(status)) if status.code == 400 => Ok(PodLog::NotNow),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(PodLog::Gone),
            Err(error) => Err(self.error(Request::ReadLog, &error)),
        }
    }

    /// Writes to the standard input of a pod.
    ///
    /// # Errors
    /// The server refused, or the connection broke. The pod may have received the text all the same.
    pub async fn write(&self, pod: &str, text: &str) -> Result<(), ClusterError> {
        let params = AttachParams::default().container(CONTAINER).stdin(true).stdout(false).stderr(false);
        let request = self.built(Request::Attach, self.pods().attach(pod, &params))?;
        let connected = self.client.connect(request).await;
        let mut stream = connected.map_err(|error| self.error(Request::Attach, &error))?.into_stream();
        let broken =
            |error: tokio_tungstenite::tungstenite::Error| ClusterError::Unreachable(error.to_string());
        for part in text.as_bytes().chunks(MESSAGE_BYTES) {
            let message = [&[STDIN], part].concat();
            stream.send(Message::binary(message)).await.map_err(broken)?;
        }
        stream.close(None).await.map_err(broken)?;
        // A socket that is dropped before the other side has closed may lose data in flight.
        let last_words = async {
            while let Some(Ok(message)) = stream.next().await {
                let bytes = message.into_data();
                if bytes.first() == Some(&ERRORS) && String::from_utf8_lossy(&bytes).contains("Failure") {
                    return Some(String::from_utf8_lossy(&bytes[1..]).into_owned());
                }
            }
            None
        };
        match timeout(CLOSES_WITHIN, last_words).await {
            Ok(Some(failure)) => Err(ClusterError::Unreachable(failure)),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Deletes a Job and its pods. Succeeds if the Job is gone already.
    ///
    /// # Errors
    /// The server's answer, if it is an error.
    pub async fn delete_job(&self, name: &str) -> Result<(), ClusterError> {
        let request = self.jobs().delete(name, &DeleteParams::background());
        match self.client.request::<IgnoredAny>(self.built(Request::DeleteJob, request)?).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(self.error(Request::DeleteJob, &error)),
        }
    }

    fn jobs(&self) -> core::Request {
        core::Request::new(format!("/apis/batch/v1/namespaces/{}/jobs", self.namespace))
    }

    fn pods(&self) -> core::Request {
        core::Request::new(format!("/api/v1/namespaces/{}/pods", self.namespace))
    }

    fn built<R>(&self, request: Request, built: Result<R, core::request::Error>) -> Result<R, ClusterError> {
        built.map_err(|error| self.error(request, &kube::Error::BuildRequest(error)))
    }

    fn error(&self, request: Request, error: &kube::Error) -> ClusterError {
        ClusterError::from_kube(request, &self.namespace, error)
    }
}
