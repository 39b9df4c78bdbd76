//! What every benchmark program does: for each number on standard input, that many cycles, and one line of times
//! (nanoseconds) and fencing tokens on standard output.

use std::error::Error;
use std::io;
use std::time::Instant;

/// Serves blocks of cycles until standard input ends; `cycle` gives its fencing token.
pub fn serve(mut cycle: impl FnMut() -> Result<i64, Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    println!("ready");
    for line in io::stdin().lines() {
        let count: usize = line?.trim().parse()?;
        let mut nanos = Vec::with_capacity(count);
        let mut tokens = Vec::with_capacity(count);
        for _ in 0..count {
            let start = Instant::now();
            tokens.push(cycle()?);
            nanos.push(start.elapsed().as_nanos());
        }
        println!(r#"{{"nanos":{nanos:?},"tokens":{tokens:?}}}"#);
    }
    Ok(())
}
