//! The figures of the JVM's own count of its memory (native memory tracking, `jcmd PID VM.native_memory`).

/// What the JVM counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "`words` says what each is")]
pub enum NativeFigure {
    Threads,
    StackReserved,
    StackCommitted,
    ThreadsReserved,
    ThreadsCommitted,
    Reserved,
    Committed,
    Malloc,
    MmapReserved,
    MmapCommitted,
    HeapReserved,
    HeapCommitted,
}

/// When the JVM was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// When the load was over.
    AfterLoad,
    /// When the server was ready and nothing was asked of it yet.
    AtStart,
}

/// The metric's name and what it is, at both moments.
macro_rules! words {
    ($moment:expr, $name:literal, $unit:literal, $after:literal, $at_start:literal) => {
        match $moment {
            Moment::AfterLoad => (concat!($name, $unit), concat!($after, " after the load")),
            Moment::AtStart => (concat!($name, "_at_start", $unit), concat!($at_start, " at start")),
        }
    };
    ($moment:expr, $name:literal, $unit:literal, $what:literal) => {
        words!($moment, $name, $unit, $what, $what)
    };
}

impl NativeFigure {
    /// All of them, in the order in which reports show them.
    pub const ALL: [Self; 12] = [
        Self::Threads,
        Self::StackReserved,
        Self::StackCommitted,
        Self::ThreadsReserved,
        Self::ThreadsCommitted,
        Self::Reserved,
        Self::Committed,
        Self::Malloc,
        Self::MmapReserved,
        Self::MmapCommitted,
        Self::HeapReserved,
        Self::HeapCommitted,
    ];

    /// The metric's name and what it is.
    pub(super) const fn words(self, moment: Moment) -> (&'static str, &'static str) {
        match self {
            Self::Threads => words!(moment, "nmt_threads", "", "threads the JVM counts"),
            Self::StackReserved => words!(moment, "stack_reserved", "_bytes", "thread stacks reserved"),
            Self::StackCommitted => words!(moment, "stack_committed", "_bytes", "thread stacks committed"),
            Self::ThreadsReserved => {
                words!(moment, "threads_reserved", "_bytes", "memory reserved for threads, stacks and all,")
            }
            Self::ThreadsCommitted => {
                words!(moment, "threads_committed", "_bytes", "memory committed for threads, stacks and all,")
            }
            Self::Reserved => words!(
                moment,
                "nmt_reserved",
                "_bytes",
                "memory the JVM reserved,",
                "memory the JVM reserved"
            ),
            Self::Committed => words!(
                moment,
                "nmt_committed",
                "_bytes",
                "memory the JVM committed,",
                "memory the JVM committed"
            ),
            Self::Malloc => words!(moment, "nmt_malloc", "_bytes", "memory the JVM got from malloc"),
            Self::MmapReserved => {
                words!(moment, "nmt_mmap_reserved", "_bytes", "memory the JVM mapped, reserved,")
            }
            Self::MmapCommitted => {
                words!(moment, "nmt_mmap_committed", "_bytes", "memory the JVM mapped, committed,")
            }
            Self::HeapReserved => words!(moment, "heap_reserved", "_bytes", "heap reserved"),
            Self::HeapCommitted => words!(moment, "heap_committed", "_bytes", "heap committed"),
        }
    }
}
