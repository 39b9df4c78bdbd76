//! Connect strings, and lock paths.

use crate::connect_string::ConnectString;
use crate::path;

/// What is taken has one normal form, which is taken again; what is not is explained in one line.
pub(super) fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    match ConnectString::parse(text) {
        Ok(parsed) => {
            assert!(!parsed.servers.is_empty());
            assert!(parsed.servers.iter().all(|server| server.port != 0));
            assert!(parsed.chroot.is_empty() || path::validate(&parsed.chroot).is_ok());
            let again = ConnectString::parse(&parsed.to_string());
            assert_eq!(again.as_ref(), Ok(&parsed));
        }
        Err(why) => explained(&why),
    }
    if let Err(why) = path::validate(text) {
        explained(&why.to_string());
    }
}

fn explained(why: &str) {
    assert!(!why.is_empty() && why.len() < 1000, "{} bytes", why.len());
    assert!(!why.contains(char::is_control), "{why:?}");
}
