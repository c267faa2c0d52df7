//! Eclipse's own Jetty distributions, `jetty-home`.

use crate::distribution::{Pinned, Product};

/// Jetty as a product; no other place names its versions.
pub static JETTY: Product = Product {
    name: "Jetty",
    publisher: "Eclipse",
    title: "Eclipse Jetty",
    group: "org.eclipse.jetty",
    artifact: "jetty-home",
    folder: "jetty-home",
    whole: "start.jar",
    oldest: 12,
    pinned: &[
        Pinned {
            line: "12.1",
            version: "12.1.12",
            sha512: "1adde789fa7469985a1cf2463394dae21c125f7e1ea2320a95160989133b3f5d3423b8059e5d374a42ee8bdac94acc916490b624887cff6c36ebc973de982e17",
        },
        Pinned {
            line: "12.0",
            version: "12.0.31",
            sha512: "c7fcb9aae68a68f469cb1c4a3183b03f739f38edff5cf7f992f45d91fff1b79f1ffe520da8ac174c9ccbd9a0e58a9bc7c365b9d6d2538edcc8379a292bf6eb2f",
        },
    ],
};
