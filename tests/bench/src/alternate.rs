//! Blocks in turns: a bare block stands before and after each block of another program, and each is compared with its
//! two neighbours. Whatever else the machine does then meets both alike.

use crate::statistics::{Spread, spread};
use crate::trouble::Trouble;

/// Something that can be measured block by block.
pub(crate) trait Contestant {
    /// The figure of one block.
    fn block(&mut self) -> Result<f64, Trouble>;
}

/// What the blocks of one contestant came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) value: Spread,
    /// Block by block, to the bare blocks around it.
    pub(crate) ratio: Spread,
}

/// The bare one's figures, and of each other one its own or why it dropped out.
pub(crate) fn alternate<C: Contestant>(
    rounds: usize,
    bare: &mut C,
    others: &mut [C],
) -> Result<(Spread, Vec<Result<Outcome, Trouble>>), Trouble> {
    let mut bare_values = Vec::new();
    let mut values = vec![Vec::new(); others.len()];
    let mut ratios = vec![Vec::new(); others.len()];
    let mut failed: Vec<Option<Trouble>> = vec![None; others.len()];
    let mut before = bare.block()?;
    bare_values.push(before);
    for round in 1..=rounds {
        eprint!("\rround {round} of {rounds} ");
        for (index, other) in others.iter_mut().enumerate() {
            if failed[index].is_some() {
                continue;
            }
            let value = match other.block() {
                Ok(value) => value,
                Err(error) => {
                    failed[index] = Some(error);
                    continue;
                }
            };
            let after = bare.block()?;
            values[index].push(value);
            ratios[index].push(value / ((before + after) / 2.0));
            bare_values.push(after);
            before = after;
        }
    }
    eprintln!();
    let outcomes = failed
        .into_iter()
        .enumerate()
        .map(|(index, failed)| match failed {
            Some(error) => Err(error),
            None => Ok(Outcome {
                value: spread(&values[index]),
                ratio: spread(&ratios[index]),
            }),
        });
    Ok((spread(&bare_values), outcomes.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes through its figures again and again.
    struct Script(Vec<Result<f64, Trouble>>, usize);

    impl Contestant for Script {
        fn block(&mut self) -> Result<f64, Trouble> {
            self.1 += 1;
            self.0[(self.1 - 1) % self.0.len()].clone()
        }
    }

    #[test]
    fn a_block_is_compared_with_its_neighbours() {
        let mut bare = Script(vec![Ok(10.0), Ok(30.0)], 0);
        let mut others = [Script(vec![Ok(40.0)], 0)];
        let (bare, outcomes) = alternate(2, &mut bare, &mut others).unwrap();
        assert_eq!(bare.median, 10.0, "of 10, 30, 10");
        let outcome = outcomes[0].as_ref().unwrap();
        assert_eq!((outcome.value.median, outcome.ratio.median), (40.0, 2.0));
    }

    #[test]
    fn one_that_fails_drops_out_alone() {
        let mut bare = Script(vec![Ok(10.0)], 0);
        let mut others = [
            Script(vec![Ok(1.0), Err("broken".into())], 0),
            Script(vec![Ok(5.0)], 0),
        ];
        let (_, outcomes) = alternate(3, &mut bare, &mut others).unwrap();
        assert_eq!(outcomes[0].as_ref().unwrap_err(), &"broken".into());
        assert_eq!(outcomes[1].as_ref().unwrap().ratio.median, 0.5);
        assert_eq!(others[0].1, 2, "it is not asked again");
    }

    #[test]
    fn without_the_bare_one_there_is_nothing_to_compare_with() {
        let mut bare = Script(vec![Err("gone".into())], 0);
        assert_eq!(alternate(1, &mut bare, &mut []).unwrap_err(), "gone".into());
    }
}
