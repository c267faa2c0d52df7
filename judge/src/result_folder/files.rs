//! The files that a result folder may contain besides the runs; `--replace` deletes all of them.

/// Declares an enum of files with their names.
macro_rules! result_files {
    ($($file:ident = $name:literal,)*) => {
        /// A file of a result, or of one of its reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ResultFile {
            $($file,)*
        }

        impl ResultFile {
            /// Every file.
            pub const ALL: &[Self] = &[$(Self::$file,)*];

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$file => $name,)*
                }
            }
        }
    };
}

result_files! {
    Result = "result.json",
    Page = "report.html",
    Markdown = "report.md",
    Text = "report.txt",
    Runs = "runs.csv",
    SeriesTable = "series.csv",
    Claims = "junit.xml",
    Terminal = "terminal.txt",
}
