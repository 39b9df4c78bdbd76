//! Znode paths: which ones ZooKeeper takes, checked before anything is sent (R20).

use std::str;

/// The longest path taken, in bytes.
///
/// A server closes the connection on a request over its `jute.maxbuffer` (0xfffff bytes unless set), and a downgrade
/// (R12) sends chroot and lock path twice, each time with a contender's name. With both at this bound that is half of
/// the buffer; the other half is for data and access control lists.
pub(crate) const MAX_BYTES: usize = 128 * 1024;

/// Says what is wrong with a lock path or a chroot, in one line.
pub(crate) fn validate(path: &str) -> Result<(), String> {
    if path.len() > MAX_BYTES {
        return Err(format!(
            "it has {} bytes, and {MAX_BYTES} is the limit",
            path.len()
        ));
    }
    match path {
        "" => return Err("it is empty".into()),
        "/" => return Err("it is the root node".into()),
        "/zookeeper" => return Err("/zookeeper belongs to ZooKeeper itself".into()),
        _ if path.starts_with("/zookeeper/") => {
            return Err("what is below /zookeeper belongs to ZooKeeper itself".into());
        }
        _ => {}
    }
    let Some(components) = path.strip_prefix('/') else {
        return Err("it does not begin with '/'".into());
    };
    if let Some((at, char)) = path.char_indices().find(|(_, char)| is_forbidden(*char)) {
        return Err(format!(
            "it has the character U+{:04X} at byte {at}, which ZooKeeper forbids",
            u32::from(char)
        ));
    }
    if path.ends_with('/') {
        return Err("it ends with '/'".into());
    }
    for component in components.split('/') {
        match component {
            "" => return Err("it has an empty component ('//')".into()),
            "." | ".." => return Err(format!("it has the relative component '{component}'")),
            _ => {}
        }
    }
    Ok(())
}

/// ZooKeeper's rule, which is about UTF-16 units: everything beyond U+FFFF is there as surrogates, and so forbidden too.
fn is_forbidden(char: char) -> bool {
    matches!(
        char,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..=char::MAX
    )
}

/// [`validate`] for callers whose strings may be anything.
pub(crate) fn validate_bytes(path: &[u8]) -> Result<&str, String> {
    let path = str::from_utf8(path)
        .map_err(|error| format!("it is not UTF-8 from byte {} on", error.valid_up_to()))?;
    validate(path)?;
    Ok(path)
}

/// The path that a node is a child of: `/` for one at the top. `None` for the root.
pub(crate) fn parent(path: &str) -> Option<&str> {
    let (parent, name) = path.rsplit_once('/')?;
    match (parent, name) {
        ("", "") => None,
        ("", _) => Some("/"),
        _ => Some(parent),
    }
}

/// All that must exist for a path to exist, itself included, from the top down: `/a`, `/a/b`, `/a/b/c`.
pub(crate) fn ancestors(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    let above = path
        .match_indices('/')
        .filter_map(|(at, _)| path.get(..at))
        .filter(|above| !above.is_empty());
    above.chain(Some(path).filter(|path| !matches!(*path, "" | "/")))
}

/// The path of a child.
pub(crate) fn join(parent: &str, child: &str) -> String {
    let parent = parent.strip_suffix('/').unwrap_or(parent);
    [parent, "/", child].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn good_paths() {
        for path in [
            "/a",
            "/locks/order/user-123",
            "/a/...",
            "/a/.b",
            "/a/b.",
            "/with space",
            "/zookeeperish",
            "/a/zookeeper",
            "/schlüssel/鍵",
            "/\u{a0}\u{ffef}\u{d7ff}\u{f900}",
        ] {
            assert_eq!(validate(path), Ok(()), "{path}");
            assert_eq!(validate_bytes(path.as_bytes()), Ok(path));
        }
    }

    #[test]
    fn bad_paths() {
        for (path, wrong) in [
            ("", "it is empty"),
            ("a/b", "it does not begin with '/'"),
            ("\0", "it does not begin with '/'"),
            ("/", "it is the root node"),
            ("/a/", "it ends with '/'"),
            ("//", "it ends with '/'"),
            ("/a//b", "it has an empty component ('//')"),
            ("//a", "it has an empty component ('//')"),
            ("/a/./b", "it has the relative component '.'"),
            ("/a/..", "it has the relative component '..'"),
            ("/zookeeper", "/zookeeper belongs to ZooKeeper itself"),
            (
                "/zookeeper/quota",
                "what is below /zookeeper belongs to ZooKeeper itself",
            ),
        ] {
            assert_eq!(validate(path), Err(wrong.into()), "{path}");
        }
    }

    #[test]
    fn forbidden_characters() {
        for char in [
            '\0',
            '\u{1}',
            '\n',
            '\u{1f}',
            '\u{7f}',
            '\u{9f}',
            '\u{e000}',
            '\u{f8ff}',
            '\u{fff0}',
            '\u{fffd}',
            '\u{ffff}',
            '\u{10000}',
            '😀',
        ] {
            let message = validate(&format!("/a/{char}b")).unwrap_err();
            let expected = format!("U+{:04X} at byte 3", u32::from(char));
            assert!(message.contains(&expected), "{message}");
        }
    }

    #[test]
    fn length() {
        let longest = format!("/{}", "x".repeat(MAX_BYTES - 1));
        assert_eq!(validate(&longest), Ok(()));
        assert_eq!(
            validate(&(longest + "x")),
            Err("it has 131073 bytes, and 131072 is the limit".into())
        );
    }

    #[test]
    fn not_utf8() {
        assert_eq!(
            validate_bytes(b"/a\xff"),
            Err("it is not UTF-8 from byte 2 on".into())
        );
    }

    #[test]
    fn families() {
        assert_eq!(parent("/a/b"), Some("/a"));
        assert_eq!(parent("/a"), Some("/"));
        assert_eq!(parent("/"), None);
        assert_eq!(parent("a"), None);

        let collect = |path| ancestors(path).collect::<Vec<_>>();
        assert_eq!(collect("/a/b/c"), ["/a", "/a/b", "/a/b/c"]);
        assert_eq!(collect("/a"), ["/a"]);
        assert!(collect("/").is_empty());
        assert!(collect("").is_empty());

        assert_eq!(join("/a", "b"), "/a/b");
        assert_eq!(join("/", "b"), "/b");
        assert_eq!(join("", "b"), "/b");
    }

    proptest! {
        #[test]
        fn anything_ends_in_one_line(bytes: Vec<u8>) {
            if let Err(message) = validate_bytes(&bytes) {
                prop_assert!(!message.contains(char::is_control));
            }
        }

        #[test]
        fn good_paths_come_apart_and_together(path in "(/[a-z.é]{3,5}){1,6}") {
            prop_assume!(validate(&path).is_ok());
            let all: Vec<_> = ancestors(&path).collect();
            prop_assert_eq!(all.last(), Some(&&path[..]));
            prop_assert_eq!(parent(all[0]), Some("/"));
            for pair in all.windows(2) {
                prop_assert_eq!(parent(pair[1]), Some(pair[0]));
                let name = &pair[1][pair[0].len() + 1..];
                prop_assert_eq!(join(pair[0], name), pair[1]);
            }
        }

        #[test]
        fn strange_paths_have_families_too(path: String) {
            let _ = parent(&path);
            let _ = ancestors(&path).count();
            let _ = join(&path, &path);
        }
    }
}
