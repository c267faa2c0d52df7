//! Preliminary results, while the rounds still go on.

use super::view::table::{RatioCell, Row, first_columns, table};
use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::LoadSpec;

/// The ratios of a load in one line; `None` if nothing is known yet.
#[must_use]
pub fn so_far(document: &ResultDocument, load: &LoadSpec) -> Option<String> {
    let table = table(document, load, first_columns);
    let baseline = table.baseline.as_ref()?;
    let is_compared = |row: &&Row| matches!(row.ratio, RatioCell::Ratio { .. });
    let ratios = table.rows.iter().filter(is_compared);
    let ratios: Vec<_> = ratios.map(|row| format!("{} {}", row.variant, row.ratio.text())).collect();
    let title = table.columns.first()?.title;
    (!ratios.is_empty()).then(|| format!("{title} vs {baseline} so far: {}", ratios.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_judge::conclude::{Origin, conclude};
    use threadcount_model::record::Record;
    use threadcount_model::sample::{run, with_cost};

    fn line_of(rates: &[(&str, f64)]) -> Option<String> {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {platform: {}, virtual: {}}\n\
            loads: [{clients: 400, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let full = |&(variant, rate): &(&str, f64)| {
            with_cost(run(variant, "c400", rate, 50.0), |cost| {
                cost.machine_cpu_cores = if variant == "virtual" { 1.95 } else { 0.9 };
            })
        };
        let records: Vec<Record> = rates.iter().map(full).collect();
        so_far(&conclude(&experiment, records, Vec::new(), Origin::default()), &experiment.loads[0])
    }

    #[test]
    fn the_ratio_is_one_line_without_reasons() {
        let expected = "throughput vs platform so far: virtual 1.95x (1 run)";
        let rates = [("platform", 4_000.0), ("virtual", 7_800.0)];
        assert_eq!(line_of(&rates).as_deref(), Some(expected));
        assert_eq!(line_of(&rates[..1]), None, "without a partner there is no ratio");
    }
}
