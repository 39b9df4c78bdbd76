//! The figures for a person.

use crate::uncontended::Results;

pub(crate) fn print(results: &Results) {
    println!(
        "Uncontended acquire + release, beside a bare blocking socket that sends the same requests"
    );
    println!(
        "{:<14} {:>9} {:>17} {:>6} {:>13} {:>7} {:>9} {:>8}",
        "program",
        "median us",
        "quartiles us",
        "ratio",
        "quartiles",
        "target",
        "requests",
        "flights"
    );
    let bare = &results.bare_cycle_micros;
    println!(
        "{:<14} {:>9.1} {:>17} {:>6} {:>13} {:>7} {:>9.2} {:>8.2}",
        "bare socket",
        bare.median,
        format!("{:.1} .. {:.1}", bare.lower_quartile, bare.upper_quartile),
        "1",
        "",
        "",
        results.bare_wire.requests,
        results.bare_wire.flights
    );
    for figures in &results.programs {
        let (cycle, ratio) = (&figures.cycle_micros, &figures.ratio);
        println!(
            "{:<14} {:>9.1} {:>17} {:>6.3} {:>13} {:>7.2} {:>9.2} {:>8.2}{}",
            figures.name,
            cycle.median,
            format!("{:.1} .. {:.1}", cycle.lower_quartile, cycle.upper_quartile),
            ratio.median,
            format!("{:.3} .. {:.3}", ratio.lower_quartile, ratio.upper_quartile),
            figures.target,
            figures.wire.requests,
            figures.wire.flights,
            if figures.target_met {
                ""
            } else {
                "  target missed"
            }
        );
    }
}
