//! The kinds of thread that are compared by default, and how many requests each can serve.

use threadcount_model::crossover::Treatment;

/// The server's own pool, virtual threads, and a pool with a thread per client if the server's own pool is smaller: it shows whether a
/// difference comes from the kind of thread or from their number.
pub(super) fn usual_treatments(own_threads: Option<u32>, clients: u32) -> Vec<Treatment> {
    let sized = Treatment::Platform { threads: clients };
    let is_own_smaller = own_threads.is_none_or(|own| own < clients);
    let sized = is_own_smaller.then_some(sized);
    [Treatment::Own, Treatment::Virtual { limit: None }].into_iter().chain(sized).collect()
}

/// The number of requests, of `clients` in flight, that the smallest treatment can serve at once.
pub(super) fn served_at_once(treatments: &[Treatment], own_threads: Option<u32>, clients: u32) -> u32 {
    let served = treatments.iter().filter_map(|treatment| match *treatment {
        Treatment::Own => own_threads,
        Treatment::Virtual { limit } => limit,
        Treatment::Platform { threads } => Some(threads),
    });
    served.min().map_or(clients, |served| served.min(clients))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_with_a_thread_per_client_is_compared_where_the_own_one_is_smaller_or_unknown() {
        let count = |own, clients| usual_treatments(own, clients).len();
        assert_eq!((count(Some(200), 100), count(Some(200), 200)), (2, 2));
        assert_eq!((count(Some(200), 300), count(None, 10)), (3, 3));
    }

    #[test]
    fn the_smallest_pool_or_limit_or_the_clients_are_what_all_can_serve_at_once() {
        let virtual_threads = |limit| [Treatment::Own, Treatment::Virtual { limit }];
        assert_eq!(served_at_once(&virtual_threads(None), Some(200), 400), 200);
        assert_eq!(served_at_once(&virtual_threads(Some(50)), Some(200), 400), 50);
        assert_eq!(served_at_once(&virtual_threads(None), Some(200), 100), 100);
        assert_eq!(served_at_once(&[Treatment::Own, Treatment::Platform { threads: 206 }], None, 400), 206);
        assert_eq!(served_at_once(&virtual_threads(None), None, 400), 400);
    }
}
