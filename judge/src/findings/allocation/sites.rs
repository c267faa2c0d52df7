//! The places where one variant allocates more per request than another.

use super::AllocatingPlace;
use std::collections::BTreeMap;
use threadcount_model::record::Record;
use threadcount_model::record::allocation::AllocationSite;

/// Places with a smaller share of the difference than this are not named.
pub(crate) const WORTH_NAMING: f64 = 0.1;
/// The most places that are named.
pub(crate) const MOST_NAMED: usize = 3;
/// Frames that create or register Tomcat's processors with their requests, responses and buffers.
const PROCESSOR_MAKERS: [&str; 6] = [
    "org.apache.coyote.http11.AbstractHttp11Protocol.createProcessor",
    "org.apache.coyote.http11.Http11InputBuffer.init",
    "org.apache.coyote.AbstractProtocol$ConnectionHandler.",
    "org.apache.catalina.connector.Connector.createRe",
    "org.apache.tomcat.util.modeler.",
    "org.apache.tomcat.util.buf.MessageBytes$MessageBytesFactory.",
];

/// Bytes per request by place, and by class within it.
pub(crate) struct BytesByPlace(BTreeMap<Place, BTreeMap<String, f64>>);

/// The maker and the application's frame, without line numbers.
type Place = (Option<String>, Option<String>);

impl BytesByPlace {
    /// Means over the runs whose allocation is known.
    pub(crate) fn of(runs: &[&Record]) -> Self {
        let mut places: BTreeMap<Place, BTreeMap<String, f64>> = BTreeMap::new();
        let known: Vec<(&Record, f64)> =
            runs.iter().filter_map(|run| Some((*run, run.allocated_bytes_per_request()?))).collect();
        let number = known.len() as f64;
        for (run, bytes) in known {
            let sites = run.jvm.iter().filter_map(|jvm| jvm.allocation.as_ref()).flat_map(|it| &it.sites);
            for site in sites {
                let classes = places.entry(place(site)).or_default();
                *classes.entry(site.class.clone()).or_default() += bytes * site.share / number;
            }
        }
        Self(places)
    }

    fn at(&self, place: &Place) -> f64 {
        self.0.get(place).map_or(0.0, |classes| classes.values().sum())
    }

    /// Places that allocate more than in `least`, with their shares of the whole difference.
    fn more_than<'a>(&'a self, least: &'a Self, difference: f64) -> impl Iterator<Item = (&'a Place, f64)> {
        let more = move |place| (place, (self.at(place) - least.at(place)) / difference);
        self.0.keys().map(more).filter(|(_, share)| *share > 0.0)
    }

    /// The places that make most of the difference, largest first.
    pub(crate) fn named(&self, least: &Self, difference: f64) -> Vec<AllocatingPlace> {
        let mut all: Vec<_> = self.more_than(least, difference).filter(|it| it.1 >= WORTH_NAMING).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let named = |(place, share): (&Place, f64)| AllocatingPlace {
            maker: place.0.clone(),
            application: place.1.clone(),
            class: largest(&self.0[place]),
            share: share.min(1.0),
        };
        all.into_iter().take(MOST_NAMED).map(named).collect()
    }

    /// Share of the difference that is allocated for Tomcat's processors.
    pub(crate) fn of_processors(&self, least: &Self, difference: f64) -> f64 {
        let is_processor = |place: &Place| {
            let maker = place.0.as_deref().unwrap_or_default();
            PROCESSOR_MAKERS.iter().any(|known| maker.starts_with(known))
        };
        let shares = self.more_than(least, difference).filter(|it| is_processor(it.0)).map(|it| it.1);
        shares.sum::<f64>().min(1.0)
    }
}

fn largest(classes: &BTreeMap<String, f64>) -> String {
    let most = classes.iter().max_by(|a, b| a.1.total_cmp(b.1));
    most.map_or_else(String::new, |(class, _)| class.clone())
}

/// The lines of a library's method count as one place; lines of the application stay apart, because each tells the reader something.
fn place(site: &AllocationSite) -> Place {
    let is_own = site.maker == site.application;
    let without_line = |frame: &String| frame.rsplit_once(':').map_or(frame.as_str(), |it| it.0).to_owned();
    let maker = if is_own { site.maker.clone() } else { site.maker.as_ref().map(without_line) };
    (maker, site.application.clone())
}
