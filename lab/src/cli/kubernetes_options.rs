//! The flags of a load that the pods of a cluster send, and the Job that they make.

use super::told_arguments::{TOLD, ToldArguments};
use crate::run::pods::LONGEST_LOAD;
use clap::Args;
use miette::{IntoDiagnostic, miette};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::process;
use std::time::Duration;
use threadcount_cluster::ClusterLoad;
use threadcount_load::clock::{NANOS_PER_S, unix_now_ns};
use threadcount_load::plan::LoadPlan;
use threadcount_model::parse;

/// The image that is used by default. It is imported on the nodes; `./dev dist` makes it.
const DEFAULT_IMAGE: &str = concat!("localhost/threadcount:", env!("CARGO_PKG_VERSION"));
/// Time for pulling images, the ends of logs and other things that take a cluster long.
const SPARE_S: u64 = 120;
/// The longest life of a Job with the pods of a session. They end by themselves when nobody sends them anything any more.
const LONGEST_SESSION_S: i64 = 24 * 3_600;

/// A load sent by a cluster.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Kubernetes")]
pub struct KubernetesOptions {
    /// Send the load from pods of a cluster; each pod sends a share. CONTEXT is a context of the kubeconfig [default: the current one]
    #[arg(long, value_name = "CONTEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    kubernetes: Option<String>,
    /// How many pods [default: 2]
    #[arg(long, value_name = "N", value_parser = parse::positive_u32, requires = "kubernetes")]
    pods: Option<NonZeroU32>,
    /// Namespace of the Job [default: that of the context]
    #[arg(long, value_name = "NAME", value_parser = threadcount_cluster::namespace, requires = "kubernetes")]
    namespace: Option<String>,
    /// Image of the pods
    #[arg(long, value_name = "REF", default_value = DEFAULT_IMAGE, requires = "kubernetes")]
    image: String,
    /// A label that the pods' nodes must have. Repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = label, requires = "kubernetes")]
    node_selector: Vec<(String, String)>,
    /// A label that the pods' nodes must not have, such as the label of the system under test. Repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = label, requires = "kubernetes")]
    avoid_nodes: Vec<(String, String)>,
    /// CPU of each pod, both request and limit
    #[arg(long, value_name = "CPU", default_value = "1", requires = "kubernetes")]
    pod_cpu: String,
    /// Memory of each pod, both request and limit
    #[arg(long, value_name = "BYTES", default_value = "512Mi", requires = "kubernetes")]
    pod_memory: String,
    /// Begin the load this long after creating the Job; by then all pods must run
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = parse::duration, requires = "kubernetes")]
    pub start_after: Duration,
    /// Print the Job as YAML, and send nothing
    #[arg(long, requires = "kubernetes")]
    pub dry_run: bool,
}

/// The flags that are not passed to the pods, and whether each has a value.
const OWN_FLAGS: [(&str, bool); 16] = [
    ("--kubernetes", false),
    ("--pods", true),
    ("--namespace", true),
    ("--image", true),
    ("--node-selector", true),
    ("--avoid-nodes", true),
    ("--pod-cpu", true),
    ("--pod-memory", true),
    ("--start-after", true),
    ("--dry-run", false),
    ("--json", false),
    ("--quiet", false),
    ("--out", true),
    ("--hgrm", true),
    ("--hlog", true),
    ("--csv", true),
];

/// The flags that name files, which would have to be in the image.
const FILE_FLAGS: [&str; 6] = ["--targets", "--cacert", "--cert", "--key", "--unix-socket", "--log"];

impl KubernetesOptions {
    pub const fn is_asked_for(&self) -> bool {
        self.kubernetes.is_some()
    }

    pub fn pods(&self) -> u32 {
        self.pods.map_or(2, NonZeroU32::get)
    }

    /// The Job of this plan, which its pods begin at a moment of the wall clock, and the line with the load that each pod gets. The line is
    /// no part of the Job, because it may contain secrets. `arguments` are those of this process.
    ///
    /// # Errors
    /// A file that the pods do not have.
    pub fn cluster_load(
        &self,
        plan: &LoadPlan,
        start_at_unix_ns: u64,
        arguments: &[String],
    ) -> miette::Result<(ClusterLoad, String)> {
        let arguments = for_pods(arguments);
        if self.has_default_image()
            && let Some(file) = file_in(&arguments)
        {
            return Err(miette!(
                help = "build an image with the file at the same path, and name it by --image",
                "{file}: the pods do not have this file"
            ));
        }
        let start = format!("{}.{:09}", start_at_unix_ns / 1_000_000_000, start_at_unix_ns % 1_000_000_000);
        let shown = ["load", TOLD, "--share", "auto", "--start-at", &start].map(str::to_owned);
        let told = ToldArguments::new(arguments.get(1..).unwrap_or_default());
        let told = serde_json::to_string(&told).into_diagnostic()?;
        let deadline_s = deadline_s(plan, self.start_after);
        Ok((ClusterLoad { deadline_s, ..self.job(shown.to_vec()) }, told))
    }

    /// The Job with pods that stay and send one load after the other.
    pub fn workers(&self) -> ClusterLoad {
        let arguments = ["worker", "--share", "auto"].map(str::to_owned).to_vec();
        ClusterLoad { deadline_s: LONGEST_SESSION_S, ..self.job(arguments) }
    }

    fn job(&self, arguments: Vec<String>) -> ClusterLoad {
        ClusterLoad {
            context: self.kubernetes.clone().filter(|context| !context.is_empty()),
            namespace: self.namespace.clone(),
            name: format!("threadcount-{:x}-{:x}", unix_now_ns() / NANOS_PER_S, process::id()),
            pods: self.pods(),
            image: self.image.clone(),
            node_selector: self.node_selector.iter().cloned().collect(),
            avoid_nodes: self.avoid_nodes.iter().cloned().collect::<BTreeMap<_, _>>(),
            cpu: self.pod_cpu.clone(),
            memory: self.pod_memory.clone(),
            arguments,
            deadline_s: 0,
        }
    }

    /// Whether the image is our default one, which contains no file of the user.
    pub fn has_default_image(&self) -> bool {
        self.image == DEFAULT_IMAGE
    }
}

fn deadline_s(plan: &LoadPlan, start_after: Duration) -> i64 {
    let lasts = plan.stop.duration().unwrap_or(LONGEST_LOAD);
    let around = start_after + plan.lead_in + plan.grace + plan.request_timeout;
    i64::try_from((lasts + around).as_secs() + SPARE_S).unwrap_or(i64::MAX)
}

/// The arguments of this process from `load` on, without those that are not passed to the pods.
fn for_pods(arguments: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = arguments.iter().skip_while(|argument| *argument != "load");
    while let Some(argument) = rest.next() {
        let name = argument.split_once('=').map_or(argument.as_str(), |(name, _)| name);
        match OWN_FLAGS.iter().find(|(flag, _)| *flag == name) {
            Some((_, has_value)) => {
                if *has_value && !argument.contains('=') {
                    rest.next();
                }
            }
            None => kept.push(argument.clone()),
        }
    }
    kept
}

/// The first argument that names a file.
fn file_in(arguments: &[String]) -> Option<&str> {
    let is_file = |argument: &&String| {
        let name = argument.split_once('=').map_or(argument.as_str(), |(name, _)| name);
        FILE_FLAGS.contains(&name) || argument.contains("{csv:")
    };
    let is_body =
        |pair: &&[String]| ["-b", "--data", "--body"].contains(&pair[0].as_str()) && pair[1].starts_with('@');
    let of_body = || arguments.windows(2).find(is_body).map(|pair| pair[1].as_str());
    let is_joined = |argument: &&String| {
        ["--data=@", "--body=@", "-b@", "-b=@"].iter().any(|start| argument.starts_with(start))
    };
    let joined = || arguments.iter().find(is_joined).map(String::as_str);
    arguments.iter().find(is_file).map(String::as_str).or_else(of_body).or_else(joined)
}

fn label(written: &str) -> Result<(String, String), String> {
    match written.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE, for example pool=load".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::share_options::ShareOptions;
    use super::*;
    use clap::Parser;
    use std::sync::Arc;
    use threadcount_cluster::job::manifest;
    use threadcount_load::plan::Stop;
    use threadcount_load::request::{RequestSource, Target};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn pods_get_the_flags_of_the_load_and_no_others() {
        let all = "threadcount load http://shop:8080/ -r 5000/s --kubernetes=lab --pods 4 -d 1m --image=x/y:1 --json --out o.json \
            -H A:b --node-selector pool=load --quiet --dry-run";
        assert_eq!(for_pods(&words(all)), words("load http://shop:8080/ -r 5000/s -d 1m -H A:b"));
    }

    #[test]
    fn nothing_that_a_load_sends_is_in_its_job() {
        let secrets = ["s3cret-header", "s3cret-body", "s3cret-password", "s3cret-query", "s3cret-proxy"];
        let line = "threadcount load http://ann:s3cret-password@shop:8080/?key=s3cret-query -c 10 -d 1s --kubernetes --pods 4 \
            -H Authorization:s3cret-header --data s3cret-body --header=X-Key:s3cret-proxy";
        let Ok(flags) = Flags::try_parse_from(words("load --kubernetes --pods 4")) else { panic!("flags") };
        let target = Target::get("http://shop:8080/").unwrap();
        let requests = Arc::new(RequestSource::new(vec![target]).unwrap());
        let plan = LoadPlan::closed(requests, NonZeroU32::MIN, Stop::Duration(Duration::from_secs(1)));
        let (load, told) = flags.options.cluster_load(&plan, 1, &words(line)).unwrap();
        let job = manifest(&load).unwrap();
        for secret in secrets {
            assert!(!job.contains(secret), "{job}");
            assert!(told.contains(secret), "{told}");
        }
        assert!(!job.contains("shop"), "{job}");
        assert!(!told.contains("--pods"), "{told}");
    }

    #[test]
    fn a_file_is_found_in_whatever_way_it_is_written() {
        for with_file in [
            "load --targets t",
            "load u -b @o.json",
            "load u --data=@o",
            "load u --body=@o",
            "load u -b=@o",
            "load http://a/{csv:u:id}",
            "load --log=x",
        ] {
            assert!(file_in(&words(with_file)).is_some(), "{with_file}");
        }
        assert_eq!(file_in(&words("load http://a/{seq:1} -b text -H From:a@b")), None);
    }

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        options: KubernetesOptions,
        #[command(flatten)]
        share: ShareOptions,
        #[arg(long)]
        json: bool,
        #[arg(long)]
        hlog: bool,
    }

    #[test]
    fn a_context_is_written_with_an_equals_sign_or_left_out() {
        let context =
            |line: &str| Flags::try_parse_from(words(line)).map(|flags| flags.options.kubernetes).ok();
        assert_eq!(context("load"), Some(None));
        assert_eq!(context("load --kubernetes"), Some(Some(String::new())));
        assert_eq!(context("load --kubernetes=lab --pods 3"), Some(Some("lab".to_owned())));
        assert_eq!(context("load --pods 3"), None, "without a cluster");
        assert_eq!(context("load --kubernetes --share 0/2"), None);
        let refused = Flags::try_parse_from(words("load --kubernetes --namespace ../..")).err().unwrap();
        assert!(refused.to_string().contains("'../..' for '--namespace <NAME>'"), "{refused}");
        assert_eq!(context("load --kubernetes --node-selector pool"), None);
    }
}
