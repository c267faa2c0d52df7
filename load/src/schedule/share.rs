//! Tells which requests of a load belong to a thread.

use crate::share::LoadShare;

/// One thread's part of a load: the requests of its connections.
///
/// Connection `k` belongs to thread `k mod threads`, and request `n` to connection `n mod connections`. So each thread has work in
/// proportion to its connections, and no two threads share anything. Threads are counted over all processes that share the load: thread `t`
/// of the process with share `i` of `n` is thread `i + n t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    index: u32,
    threads: u32,
    connections: u32,
    of_load: LoadShare,
}

impl Share {
    /// The part of thread `index` of `threads` in a load over this many connections; each thread has at least one connection.
    #[cfg(test)]
    #[must_use]
    pub fn new(index: u32, threads: u32, connections: u32) -> Self {
        Self { index, threads, connections: connections.max(threads), of_load: LoadShare::WHOLE }
    }

    /// The part of thread `thread` of the `threads` in this process, whose share of the load is `of_load`. `connections` counts those of
    /// the whole load; each thread has at least one.
    #[must_use]
    pub fn of(of_load: LoadShare, thread: u32, threads: u32, connections: u32) -> Self {
        let (index, count) = (of_load.index(), of_load.count());
        Self { index: index + count * thread, threads: count * threads, connections, of_load }
    }

    /// A whole load on one thread.
    #[cfg(test)]
    #[must_use]
    pub fn whole() -> Self {
        Self::new(0, 1, 1)
    }

    /// The number of the thread over all processes.
    #[must_use]
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of threads there would be if all processes had as many as this one.
    #[must_use]
    pub fn threads(self) -> u32 {
        self.threads
    }

    /// The number of the thread in this process.
    #[must_use]
    pub fn thread(self) -> u32 {
        (self.index - self.of_load.index()) / self.of_load.count()
    }

    /// The number of threads in this process.
    #[must_use]
    pub fn threads_here(self) -> u32 {
        self.threads / self.of_load.count()
    }

    /// This process's share of the load.
    #[must_use]
    pub fn of_load(self) -> LoadShare {
        self.of_load
    }

    /// The number of connections of the whole load.
    #[must_use]
    pub fn all_connections(self) -> u32 {
        self.connections
    }

    /// The number of this thread's connections.
    #[must_use]
    pub fn connections(self) -> u32 {
        self.connections.saturating_sub(self.index).div_ceil(self.threads)
    }

    /// The fraction of all requests that belong to this thread, 0..=1.
    #[must_use]
    pub fn fraction(self) -> f64 {
        f64::from(self.connections()) / f64::from(self.connections)
    }

    /// The numbers of this thread's requests, in rising order.
    #[must_use]
    pub fn numbers(self) -> Numbers {
        Numbers { share: self, block: 0, connection: self.index }
    }
}

/// The endless sequence of the numbers of one thread's requests.
#[derive(Clone, Debug)]
pub struct Numbers {
    share: Share,
    /// The number of connection 0's next request.
    block: u64,
    /// The connection whose request is next.
    connection: u32,
}

impl Iterator for Numbers {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let number = self.block + u64::from(self.connection);
        self.connection += self.share.threads;
        if self.connection >= self.share.connections {
            self.connection = self.share.index;
            self.block += u64::from(self.share.connections);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_thread_with_two_of_three_connections_has_two_of_three_requests() {
        let numbers = |index| Share::new(index, 2, 3).numbers().take(5).collect::<Vec<_>>();
        assert_eq!(numbers(0), [0, 2, 3, 5, 6]);
        assert_eq!(numbers(1), [1, 4, 7, 10, 13]);
        assert_eq!((Share::new(0, 2, 3).connections(), Share::new(1, 2, 3).connections()), (2, 1));
        assert_eq!(Share::new(0, 2, 3).fraction(), 2.0 / 3.0);
    }

    #[test]
    fn the_threads_together_have_each_number_once() {
        for (threads, connections) in [(1, 1), (1, 7), (2, 3), (3, 7), (4, 4), (5, 64)] {
            let mut all: Vec<u64> = (0..threads)
                .flat_map(|index| {
                    Share::new(index, threads, connections).numbers().take_while(|&number| number < 1_000)
                })
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..1_000).collect::<Vec<_>>(), "{threads} threads, {connections} connections");
        }
    }

    proptest! {
        /// Processes may have different numbers of threads.
        #[test]
        fn the_threads_of_all_processes_together_have_each_number_once(
            count in 1u32..7, more in 0u32..20, threads in proptest::collection::vec(1u32..5, 7),
        ) {
            let connections = count + more;
            let mut all = Vec::new();
            for index in 0..count {
                let of_load = LoadShare::new(index, count).unwrap();
                let own = of_load.connections(connections);
                let threads = threads[index as usize].min(own);
                let mut own_connections = 0;
                for thread in 0..threads {
                    let share = Share::of(of_load, thread, threads, connections);
                    prop_assert_eq!((share.thread(), share.threads_here()), (thread, threads));
                    own_connections += share.connections();
                    all.extend(share.numbers().take_while(|&number| number < 500));
                }
                prop_assert_eq!(own_connections, own);
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..500).collect::<Vec<_>>());
        }
    }
}
