//! The API server of a cluster: what we ask it for. Objects are read as far as we look at them, because the types of all of
//! Kubernetes' fields would make the program megabytes larger.

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
/// The channel of what went wrong.
const ERRORS: u8 = 3;
const CLOSES_WITHIN: Duration = Duration::from_secs(2);
/// So many bytes in one message.
const MESSAGE_BYTES: usize = 16_384;

/// One namespace of a cluster.
#[derive(Clone)]
pub struct ApiServer {
    client: Client,
    namespace: String,
}

/// The log of a pod.
pub enum PodLog<S> {
    /// From its beginning on.
    Stream(S),
    /// The container is not there yet, or no more.
    NotNow,
    /// The pod is gone.
    Gone,
}

#[derive(Deserialize)]
struct PodList {
    /// Go writes an empty list as `null`, too.
    items: Option<Vec<Pod>>,
}

impl ApiServer {
    /// By the kubeconfig, or from within a pod; the namespace is that of the context where none is named.
    ///
    /// # Errors
    /// A configuration that cannot be used.
    pub async fn connect(context: Option<&str>, namespace: Option<&str>) -> Result<Self, ClusterError> {
        let wrong = |error: &dyn Display| ClusterError::Config(error.to_string());
        let config = match context {
            Some(context) => {
                let options = KubeConfigOptions { context: Some(context.to_owned()), ..Default::default() };
                Config::from_kubeconfig(&options).await.map_err(|error| wrong(&error))?
            }
            None => Config::infer().await.map_err(|error| wrong(&error))?,
        };
        let namespace = namespace.unwrap_or(&config.default_namespace).to_owned();
        Ok(Self { client: Client::try_from(config).map_err(|error| wrong(&error))?, namespace })
    }

    /// In which everything happens.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Makes a Job.
    ///
    /// # Errors
    /// What the server says.
    pub async fn create_job(&self, job: &Value) -> Result<(), ClusterError> {
        let request = self.jobs().create(&PostParams::default(), job.to_string().into_bytes());
        let created = self.client.request::<IgnoredAny>(self.built(Request::CreateJob, request)?).await;
        created.map(drop).map_err(|error| self.error(Request::CreateJob, &error))
    }

    /// The pods of a Job.
    ///
    /// # Errors
    /// What the server says.
    pub async fn pods_of(&self, job: &str) -> Result<Vec<Pod>, ClusterError> {
        self.list(&ListParams::default().labels(&format!("{JOB_NAME_LABEL}={job}"))).await
    }

    /// The pod of that name; `None`: it is gone.
    ///
    /// # Errors
    /// What the server says.
    pub async fn pod(&self, name: &str) -> Result<Option<Pod>, ClusterError> {
        // A list, for which there has to be a right anyhow.
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

    /// Follows the log of a pod.
    ///
    /// # Errors
    /// What the server says.
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
    /// What the server says, or that the connection broke. The pod may have it all the same.
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
        // A socket that is dropped before the other side has closed its own may lose what is on its way.
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

    /// Removes a Job with its pods; one that is gone already is removed.
    ///
    /// # Errors
    /// What the server says.
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
        ClusterError::of(request, &self.namespace, error)
    }
}
