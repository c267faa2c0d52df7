//! What is known while rounds still go on.

use super::load_words::load_words;
use super::overview::table::{RatioCell, Row, table};
use super::overview::{Limit, limits};
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;

/// The ratios of a load, and after the first round that counts what limits each variant; empty: nothing is known yet.
#[must_use]
pub fn so_far(document: &ResultDocument, load: &LoadSpec, round: u32) -> Vec<String> {
    let mut lines: Vec<String> = ratios(document, load).into_iter().collect();
    if round == load.dropped_rounds() + 1 {
        lines.extend(limits_of(document, load));
    }
    lines
}

fn ratios(document: &ResultDocument, load: &LoadSpec) -> Option<String> {
    let table = table(document, load);
    let baseline = table.rows.iter().find(|row| row.ratio == RatioCell::Baseline)?;
    let is_compared = |row: &&Row| matches!(row.ratio, RatioCell::Ratio { .. });
    let ratios = table.rows.iter().filter(is_compared);
    let ratios: Vec<_> = ratios.map(|row| format!("{} {}", row.variant, row.ratio.text())).collect();
    let what = table.columns.first()?.title;
    (!ratios.is_empty())
        .then(|| format!("so far: {}: {what} against {}", ratios.join(", "), baseline.variant))
}

fn limits_of(document: &ResultDocument, load: &LoadSpec) -> Vec<String> {
    let words = load_words(load);
    let is_here = |limit: &Limit| limit.loads.is_empty() || limit.loads.contains(&words);
    let limits = limits(document).into_iter().filter(is_here);
    limits.map(|limit| format!("so far: {}: {}", limit.variant, limit.sentence)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_judge::conclude::{Origin, conclude};
    use threadcount_model::record::Record;
    use threadcount_model::sample::{run, with_cost};

    fn said(rates: &[(&str, f64)], round: u32) -> Vec<String> {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {platform: {}, virtual: {}}\n\
            loads: [{clients: 400, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let full = |&(variant, rate): &(&str, f64)| {
            with_cost(run(variant, "c400", rate, 50.0), |cost| {
                cost.machine_cpu_cores = if variant == "virtual" { 1.95 } else { 0.9 };
            })
        };
        let records: Vec<Record> = rates.iter().map(full).collect();
        so_far(&conclude(&experiment, records, Vec::new(), Origin::default()), &experiment.loads[0], round)
    }

    #[test]
    fn after_the_first_round_the_ratio_and_the_limits_are_known() {
        let lines = said(&[("platform", 4_000.0), ("virtual", 7_800.0)], 1);
        assert_eq!(lines[0], "so far: virtual 1.95x (1 run): throughput against platform");
        assert!(lines[1..].iter().any(|line| line.starts_with("so far: virtual: ")), "{lines:?}");
    }

    #[test]
    fn later_the_limits_are_not_said_again_and_without_a_partner_there_is_no_ratio() {
        let rates = [("platform", 4_000.0), ("virtual", 7_800.0)];
        assert_eq!(said(&rates.repeat(2), 2).len(), 1, "{:?}", said(&rates.repeat(2), 2));
        assert_eq!(said(&rates[..1], 2), [] as [String; 0]);
    }
}
