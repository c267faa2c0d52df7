//! The generator's errors about fields of its plan, with YAML keys in place of the fields.

use miette::miette;
use threadcount_config::setting_key;
use threadcount_model::experiment::{Experiment, LoadSpec, RequestSpec, Server, Variant, Workload};
use threadcount_servers::workload::load_plan::{LoadPlanError, load_plan};

/// Refuses a load of which no plan can be made, before anything is started.
pub(super) fn check(experiment: &Experiment) -> miette::Result<()> {
    for load in experiment.loads.iter().filter(|load| load.workload.tool().is_some()) {
        if load.all_requests().any(RequestSpec::needs_environment) {
            return Err(miette!(
                "{}: load `{}` cannot send `${{NAME}}` with an external load tool, whose arguments every user can read",
                experiment.name,
                load.name
            ));
        }
    }
    for load in experiment.loads.iter().filter(|load| is_sent_by_us(load)) {
        for variant in experiment.variants.iter().filter(|variant| load.includes(&variant.name)) {
            load_plan(load, &sample_url(variant)).map_err(|error| {
                let why = load_plan_error(&error);
                miette!("{} (load `{}`, variant `{}`): {why}", experiment.name, load.name, variant.name)
            })?;
        }
    }
    Ok(())
}

fn is_sent_by_us(load: &LoadSpec) -> bool {
    matches!(load.workload, Workload::Http(_) | Workload::Capacity(_))
}

/// The URL before a port is known. Only a command or a server that runs already can use https.
fn sample_url(variant: &Variant) -> String {
    match (variant.server(), variant.target()) {
        (Some(Server::Command(command)), _) => command.url.replace("{port}", "1"),
        (_, Some(target)) => target.url(),
        _ => "http://127.0.0.1:1".to_owned(),
    }
}

fn load_plan_error(error: &LoadPlanError) -> String {
    match error {
        LoadPlanError::Plan(error) => error.sentence(setting_key),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;

    fn refused(url: &str, load: &str) -> Option<String> {
        let text = format!(
            "question: q\nserver: {{command: 'x {{port}}', url: '{url}'}}\nrequest: /\nvariants: {{a: {{}}}}\nloads: [{load}]\n"
        );
        let experiment = parse("mine", "mine.yaml", &text, false).unwrap();
        check(&experiment).err().map(|error| error.to_string())
    }

    #[test]
    fn tls_keys_with_an_http_url_are_refused_by_their_names_and_accepted_with_https() {
        for (key, value) in
            [("sni", "a.test"), ("cacert", "ca.pem"), ("cert", "c.pem"), ("tls_resumption", "false")]
        {
            let load = format!("{{clients: 1, duration: 1s, {key}: {value}}}");
            let text = refused("http://127.0.0.1:{port}", &load).unwrap();
            assert!(text.starts_with("mine (load `c1`, variant `a`):"), "{text}");
            assert!(
                text.ends_with(&format!("`{key}` is for https: write https:// in the URL, or leave it out")),
                "{text}"
            );
            assert_eq!(refused("https://127.0.0.1:{port}", &load), None);
        }
    }
}
