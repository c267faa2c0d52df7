//! Networks with known answers: simulated request by request, and compared with the bounds from their demands.

use super::{Bounds, ClosedNetwork, Limit, Station};
use crate::random::SplitMix64;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Shapes of service times with the same mean.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Constant,
    Exponential,
    /// One of ten requests takes much longer: a squared coefficient of variation of about 4.
    TwoSpeeds,
}

fn uniform(random: &mut SplitMix64) -> f64 {
    (random.below(1 << 30) as f64 + 0.5) / f64::from(1 << 30)
}

fn service_ms(mean_ms: f64, shape: Shape, random: &mut SplitMix64) -> f64 {
    let exponential = |mean_ms: f64, random: &mut SplitMix64| -mean_ms * uniform(random).ln();
    match shape {
        Shape::Constant => mean_ms,
        Shape::Exponential => exponential(mean_ms, random),
        Shape::TwoSpeeds if random.below(10) == 0 => exponential(mean_ms * 4.75, random),
        Shape::TwoSpeeds => exponential(mean_ms * 0.583, random),
    }
}

/// What a simulation measured.
struct Measured {
    rate_per_s: f64,
    /// The mean share of each station's servers that were taken.
    utilisation: Vec<f64>,
}

/// Clients that visit all stations in order, again and again; those beyond the requests inside wait outside, which changes nothing.
fn simulate(network: &ClosedNetwork, shapes: &[Shape], random: &mut SplitMix64) -> Measured {
    const REQUESTS: u32 = 4_000;
    let inside = network.inside as u64;
    let mut events: BinaryHeap<Reverse<(u64, u64, usize)>> = BinaryHeap::new();
    let mut queues = vec![VecDeque::new(); network.stations.len()];
    let mut taken = vec![0.0; network.stations.len()];
    let mut busy_ms = vec![0.0; network.stations.len()];
    let (mut now_ms, mut done, mut from_ms) = (0.0, 0, 0.0);
    let mut arrivals: VecDeque<(u64, usize)> = (0..inside).map(|client| (client, 0)).collect();
    loop {
        while let Some((client, place)) = arrivals.pop_front() {
            let station = network.stations[place];
            if station.servers.is_some_and(|servers| taken[place] >= servers) {
                queues[place].push_back(client);
                continue;
            }
            taken[place] += 1.0;
            let ms = service_ms(station.demand_ms, shapes[place], random);
            busy_ms[place] += if done >= REQUESTS / 4 { ms } else { 0.0 };
            events.push(Reverse((((now_ms + ms) * 1e6) as u64, client, place)));
        }
        let Reverse((at, client, place)) = events.pop().unwrap();
        now_ms = at as f64 / 1e6;
        taken[place] -= 1.0;
        arrivals.extend(queues[place].pop_front().map(|waiting| (waiting, place)));
        let next = (place + 1) % network.stations.len();
        done += u32::from(next == 0);
        if next == 0 && done == REQUESTS / 4 {
            from_ms = now_ms;
        }
        if done == REQUESTS {
            break;
        }
        arrivals.push_back((client, next));
    }
    let window_ms = now_ms - from_ms;
    let share = |(place, it): (usize, &Station)| {
        it.servers.map_or(0.0, |servers| busy_ms[place] / servers / window_ms)
    };
    Measured {
        rate_per_s: f64::from(REQUESTS - REQUESTS / 4) * 1e3 / window_ms,
        utilisation: network.stations.iter().enumerate().map(share).collect(),
    }
}

/// One to four stations; a delay among them in half of the networks.
fn random_network(random: &mut SplitMix64) -> (ClosedNetwork, Vec<Shape>) {
    let count = 1 + random.below(4);
    let stations = (0..count).map(|place| {
        let is_delay = place == 0 && random.below(2) == 0;
        let servers = (!is_delay).then(|| [1.0, 2.0, 4.0, 10.0, 50.0][random.below(5)]);
        let demand_ms = (uniform(random) * 6.0 - 2.0).exp();
        Station { servers, demand_ms }
    });
    let stations: Vec<Station> = stations.collect();
    let shapes = [Shape::Constant, Shape::Exponential, Shape::TwoSpeeds];
    let shapes = stations.iter().map(|_| shapes[random.below(3)]).collect();
    let inside = [4.0, 16.0, 64.0, 200.0][random.below(4)];
    (ClosedNetwork { inside, stations }, shapes)
}

#[test]
fn of_a_thousand_networks_nearly_all_are_within_their_bounds_and_have_the_limit_that_is_named() {
    let mut random = SplitMix64(7);
    let (mut within, mut named, mut clear) = (0, 0, 0);
    for _ in 0..1_000 {
        let (network, shapes) = random_network(&mut random);
        let Bounds { least_per_s, most_per_s, limit, .. } = network.bounds().unwrap();
        let measured = simulate(&network, &shapes, &mut random);
        // A simulation of 3,000 requests has an error of its own.
        within +=
            u32::from(measured.rate_per_s >= least_per_s * 0.97 && measured.rate_per_s <= most_per_s * 1.05);
        let busiest = measured.utilisation.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let (place, share) = busiest.unwrap();
        let second = measured.utilisation.iter().enumerate().filter(|it| it.0 != place);
        let second = second.map(|it| *it.1).fold(0.0, f64::max);
        // A limit has others that queue for it. Where two stations are nearly as full, either name is right.
        let elsewhere = network.stations.iter().enumerate().filter(|it| it.0 != place);
        let elsewhere_ms: f64 = elsewhere.map(|(_, it)| it.demand_ms).sum();
        let servers = network.stations[place].servers.unwrap_or_default();
        let queueing = network.inside - servers - measured.rate_per_s * elsewhere_ms / 1e3;
        if share > 0.97 && second < 0.9 && queueing >= 1.0 {
            clear += 1;
            named += u32::from(limit == Limit::Station(place));
        }
    }
    assert!(within >= 950, "{within} of 1,000 within their bounds");
    assert!(clear > 300 && f64::from(named) >= 0.99 * f64::from(clear), "{named} of {clear} limits");
}
