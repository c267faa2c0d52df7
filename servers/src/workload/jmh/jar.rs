//! The start of a microbenchmark: a JMH jar, which starts its forks itself.

use crate::LaunchError;
use crate::command_line::ServerCommand;
use std::path::{Path, PathBuf};
use threadcount_machine::app;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jdk_finder::choose;
use threadcount_model::experiment::benchmark::Benchmark;
use threadcount_model::experiment::{BenchmarkMethod, Variant};

/// A benchmark's jar and the Java that it runs on.
#[derive(Clone, Debug)]
pub struct BenchmarkJar {
    jar: PathBuf,
    /// The Java that it runs on.
    pub jdk: Jdk,
}

impl BenchmarkJar {
    /// Finds the jar and the Java.
    ///
    /// # Errors
    /// An error that names what is missing and how to get it.
    pub fn find(jdks: &[Jdk], variant: &Variant, benchmark: &BenchmarkMethod) -> Result<Self, LaunchError> {
        Ok(Self { jar: app::find_jar(&benchmark.jar)?, jdk: choose(jdks, variant.jdk)?.clone() })
    }

    /// The command that measures one method and writes its result to `scores`. JMH passes the JVM flags to its forks.
    #[must_use]
    pub fn command(
        &self,
        variant: &Variant,
        method: &str,
        (size, iteration_s): (Benchmark, f64),
        scores: &Path,
    ) -> ServerCommand {
        let iteration = format!("{}ms", (iteration_s * 1e3).round());
        let mut arguments = variant.jvm.clone();
        arguments.extend(["-jar".to_owned(), self.jar.display().to_string(), only(method)]);
        let options = [
            ("-f", size.forks.to_string()),
            ("-wi", size.warmups.to_string()),
            ("-i", size.iterations.to_string()),
            ("-w", iteration.clone()),
            ("-r", iteration),
            ("-foe", "true".to_owned()),
            ("-rf", "json".to_owned()),
            ("-rff", scores.display().to_string()),
        ];
        arguments.extend(options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
        ServerCommand { program: self.jdk.java(), arguments, env: variant.env.clone(), folder: None }
    }
}

/// A regular expression for JMH, which searches it anywhere in a name; it matches this method only.
fn only(method: &str) -> String {
    format!("(^|\\.){}$", method.replace('.', "\\.").replace('$', "\\$"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_machine::sample::{jdk_release as release, made_up_jdk as made_up};
    use threadcount_model::experiment::Subject;

    #[test]
    fn jmh_is_told_the_method_its_size_and_where_the_result_goes() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path(), Some(&release("25.0.3+9")), &[("java", "exit 1")]);
        let jdk = Jdk::at(folder.path(), "a test").unwrap();
        let found = BenchmarkJar { jar: "/b.jar".into(), jdk };
        let benchmark = BenchmarkMethod { jar: "b".into(), method: "Sort.small".into() };
        let variant = Variant {
            jvm: vec!["-Xmx64m".into()],
            ..Variant::new("small", Subject::Benchmark { benchmark })
        };
        let size = Benchmark { forks: 2, warmups: 1, iterations: 3 };
        let command = found.command(&variant, "Sort.small", (size, 0.25), Path::new("/out/jmh.json"));
        assert!(command.program.ends_with("bin/java"));
        let expected = "-Xmx64m -jar /b.jar (^|\\.)Sort\\.small$ -f 2 -wi 1 -i 3 -w 250ms -r 250ms -foe true -rf json \
            -rff /out/jmh.json";
        assert_eq!(command.arguments.join(" "), expected);
    }
}
