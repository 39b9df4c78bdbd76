//! Medians and spread.

use serde::Serialize;

/// A sample of repeated measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    /// A quarter of the measurements is below, a quarter above the other.
    pub(crate) lower_quartile: f64,
    pub(crate) upper_quartile: f64,
}

/// Of at least one measurement.
pub(crate) fn spread(values: &[f64]) -> Spread {
    Spread {
        median: quantile(values, 0.5),
        lower_quartile: quantile(values, 0.25),
        upper_quartile: quantile(values, 0.75),
    }
}

impl Spread {
    /// Of what was measured once, or counted.
    pub(crate) fn exact(value: f64) -> Spread {
        spread(&[value])
    }
}

/// The median of times, in microseconds.
pub(crate) fn median_micros(nanos: &[u64]) -> f64 {
    let micros: Vec<f64> = nanos.iter().map(|&n| n as f64 / 1e3).collect();
    quantile(&micros, 0.5)
}

fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() - 1) as f64 * q;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let all = spread(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!(
            (all.lower_quartile, all.median, all.upper_quartile),
            (1.75, 2.5, 3.25)
        );
        assert_eq!(spread(&[7.0]).median, 7.0);
    }

    #[test]
    fn times_come_out_in_microseconds() {
        assert_eq!(median_micros(&[3_000, 1_000, 2_000]), 2.0);
    }
}
