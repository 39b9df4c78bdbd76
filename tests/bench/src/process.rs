//! What the kernel and the server say about a process.

use std::fs;

use zoolock_ensemble::Ensemble;

/// Bytes of memory that it really uses, and its threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Usage {
    pub(crate) resident: u64,
    pub(crate) threads: u64,
}

pub(crate) fn usage(pid: u32) -> Result<Usage, String> {
    let file = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    parse_status(&text).ok_or_else(|| format!("{file} lacks VmRSS or Threads"))
}

fn parse_status(text: &str) -> Option<Usage> {
    let number = |label: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.starts_with(label))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some(Usage {
        resident: number("VmRSS:")? * 1024,
        threads: number("Threads:")?,
    })
}

/// Seconds of processor time that it has had.
pub(crate) fn cpu_seconds(pid: u32) -> Result<f64, String> {
    let file = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    // SAFETY: it only reads a number.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let used = parse_stat(&text).ok_or_else(|| format!("{file} lacks its times"))?;
    Ok(used as f64 / ticks as f64)
}

/// In ticks, those in the kernel too. The name, in parentheses, may have anything in it.
fn parse_stat(text: &str) -> Option<u64> {
    let mut after_name = text[text.rfind(')')? + 1..].split_whitespace().skip(11);
    let user: u64 = after_name.next()?.parse().ok()?;
    let system: u64 = after_name.next()?.parse().ok()?;
    Some(user + system)
}

/// The process of the first server.
pub(crate) fn server_pid(ensemble: &Ensemble) -> Result<u32, String> {
    let pid = ensemble.pid(1).map_err(|error| error.to_string())?;
    pid.ok_or_else(|| "the server is down".to_owned())
}

/// A number of the server's own, such as `zk_watch_count`.
pub(crate) fn monitored(ensemble: &Ensemble, key: &str) -> Result<f64, String> {
    let text = ensemble
        .four_letter(1, "mntr")
        .map_err(|error| error.to_string())?;
    parse_monitored(&text, key).ok_or_else(|| format!("the server does not tell {key}"))
}

fn parse_monitored(text: &str, key: &str) -> Option<f64> {
    text.lines()
        .find_map(|line| line.split_once('\t').filter(|(name, _)| *name == key))
        .and_then(|(_, value)| value.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read() {
        let text = "Name:\tx\nVmPeak:\t9 kB\nVmRSS:\t    2048 kB\nThreads:\t7\n";
        let expected = Usage {
            resident: 2 << 20,
            threads: 7,
        };
        assert_eq!(parse_status(text), Some(expected));
        assert_eq!(parse_status("Threads:\t7\n"), None);
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1";
        assert_eq!(parse_stat(stat), Some(300));
        let own = usage(std::process::id()).unwrap();
        assert!(own.resident > 0 && own.threads > 0);
        assert!(cpu_seconds(std::process::id()).is_ok());
    }

    #[test]
    fn the_servers_numbers_are_read() {
        let text = "zk_version\t3.9.5\nzk_watch_count\t42\nzk_watch_count_more\t7\n";
        assert_eq!(parse_monitored(text, "zk_watch_count"), Some(42.0));
        assert_eq!(parse_monitored(text, "zk_watch"), None);
    }
}
