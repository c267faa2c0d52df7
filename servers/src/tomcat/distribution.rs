//! Apache's own Tomcat distributions.

use crate::distribution::{Distribution, Pinned, Product};
use std::fs;

/// Tomcat as a product; no other place names its versions.
pub static TOMCAT: Product = Product {
    name: "Tomcat",
    publisher: "Apache",
    title: "Apache Tomcat",
    group: "org.apache.tomcat",
    artifact: "tomcat",
    folder: "apache-tomcat",
    whole: "bin/bootstrap.jar",
    oldest: 10,
    pinned: &[
        Pinned {
            line: "11.0",
            version: "11.0.24",
            sha512: "a2fb1bd511735bd3d135b87f628d2b1f71a43aed7c4d7511e770092e571bad6d5ad9e97a580852119770477fd86d7ed156d83d3cee2854bce260725ce48934d0",
        },
        Pinned {
            line: "10.1",
            version: "10.1.59",
            sha512: "992a8e88fc9c0338445f018a1e4a2757c9e71708dba795e2864c9b1613f2b3b9b19c048e787682deae6d6bff9971defc746e31282085d52ef1d32192e09f7a0f",
        },
        Pinned {
            line: "10.0",
            version: "10.0.20",
            sha512: "53bfdbac2e6af5cca97dc01fffb0428380fbe21d8375f45d015c16a57017ff946fdc555ebad9e9fcbcb97b438c4f6daf3aa39d36ca79fd5a372cfc1a80b7117f",
        },
    ],
};

/// The class without which Tomcat has no virtual threads of its own.
const VIRTUAL_EXECUTOR: &str = "org/apache/catalina/core/StandardVirtualThreadExecutor.class";

/// Whether it contains `StandardVirtualThreadExecutor` (Tomcat 10.1.10 and 11.0 do, 10.0 does not).
#[must_use]
pub fn has_virtual_executor(distribution: &Distribution) -> bool {
    // A jar stores the names of its entries uncompressed.
    let jar = fs::read(distribution.home.join("lib/catalina.jar")).unwrap_or_default();
    jar.windows(VIRTUAL_EXECUTOR.len()).any(|it| it == VIRTUAL_EXECUTOR.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Checked;

    #[test]
    fn the_executor_of_virtual_threads_is_looked_for_in_the_jar() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("lib")).unwrap();
        let distribution = Distribution {
            home: root.path().to_owned(),
            version: String::new(),
            checked: Checked::Pinned,
            title: TOMCAT.title,
        };
        assert!(!has_virtual_executor(&distribution));
        fs::write(root.path().join("lib/catalina.jar"), format!("PK..{VIRTUAL_EXECUTOR}..")).unwrap();
        assert!(has_virtual_executor(&distribution));
    }
}
