//! Data without its secrets.

use crate::environment;
use serde::Serialize;
use serde::de::DeserializeOwned;
pub use threadcount_load::secrets::{MASK, Secrets, is_secret, masked_text};

/// Data that is no longer of its type when its secrets are masked.
#[derive(Debug, thiserror::Error)]
#[error("secrets in the input cannot be masked in the result: {0}")]
pub struct NotMasked(#[from] serde_json::Error);

/// Masks the secrets in every text of the data, and adds them to `secrets`.
///
/// # Errors
/// The masked data no longer fits its type. Then it must not be written.
pub fn masked<T: Serialize + DeserializeOwned>(data: &T, secrets: &mut Secrets) -> Result<T, NotMasked> {
    let mut data = serde_json::to_value(data)?;
    secrets.mask_data(&mut data);
    Ok(serde_json::from_value(data)?)
}

/// The secrets in some data, and the values of the variables that it names. A server may print them without the names that reveal them.
#[must_use]
pub fn secrets_in<T: Serialize>(data: &T) -> Secrets {
    let mut data = serde_json::to_value(data).unwrap_or_default();
    let mut secrets = environment::secrets([&*data.to_string()]);
    secrets.mask_data(&mut data);
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use threadcount_config::parse;

    #[test]
    fn a_value_that_is_masked_once_is_hidden_where_it_stands_without_its_name() {
        let data = serde_json::json!({
            "env": {"DB_PASSWORD": "s3cretpw", "WORKERS": "1000", "API_KEY": "abc"},
            "command": "app --token t0ken --port 8080 https://u:urlpw@host/",
        });
        let line = "s3cretpw t0ken urlpw, 1000 workers at host:8080 of app, abc";
        let hidden = secrets_in(&data).hidden_in(line);
        assert_eq!(hidden, "*** *** ***, 1000 workers at host:8080 of app, abc");
    }

    #[test]
    fn captures_and_expected_bodies_stay_and_everything_else_is_masked() {
        let text = "question: q\nserver: {tomcat: 11.0}\nvariants: {a: {}}\nloads:\n  - clients: 1\n    requests: 1\n    \
            request: /a?access_token=abc\n    capture: ['token=header:X-Token']\n    \
            expect_body: 'regex:token=(a|b)'\n";
        let experiment = parse("x", "x.yaml", text, false).unwrap();
        let kept = experiment.without_secrets(&mut Secrets::default()).unwrap();
        assert_eq!(kept.loads[0].sending, experiment.loads[0].sending);
        assert_eq!(kept.loads[0].request.path, "/a?access_token=***");
    }

    #[test]
    fn our_own_experiments_have_no_secrets() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(text) = std::fs::read_to_string(&entry) else { continue };
            let Ok(experiment) = parse("x", &entry.display().to_string(), &text, false) else { continue };
            let mut names = Secrets::default();
            let kept = experiment.without_secrets(&mut names).unwrap();
            assert!(names.in_words().is_none(), "{}: {names:?}", entry.display());
            let (kept, written) = (serde_json::to_value(&kept), serde_json::to_value(&experiment));
            assert_eq!(kept.unwrap(), written.unwrap(), "{}", entry.display());
            read += 1;
        }
        assert!(read > 10, "{read} experiments");
    }

    #[test]
    fn data_that_cannot_be_masked_is_an_error_and_is_not_given_back() {
        let mut experiment = Experiment::unplanned("x", Vec::new(), Vec::new());
        experiment.question = "password=abc".to_owned();
        assert_eq!(experiment.without_secrets(&mut Secrets::default()).unwrap().question, "password=***");
        let typed = Typed { password: Only::Abc };
        assert!(masked(&typed, &mut Secrets::default()).is_err());
    }

    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    struct Typed {
        password: Only,
    }

    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    enum Only {
        Abc,
    }
}
