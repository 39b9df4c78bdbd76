//! Which paths a server takes.

/// The rules of ZooKeeper's `PathUtils`.
pub(crate) fn is_valid(path: &str) -> bool {
    let Some(inner) = path.strip_prefix('/') else {
        return false;
    };
    inner.is_empty() || inner.split('/').all(is_valid_name)
}

fn is_valid_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && name.chars().all(is_valid_char)
}

fn is_valid_char(c: char) -> bool {
    // Java looks at UTF-16 units, so everything outside the basic plane is refused as surrogates.
    !matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..)
}

/// The parent's path and the name below it. The parent of `/a` is the empty path, another name of the root.
pub(crate) fn split(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once('/').filter(|_| !path.contains('\0'))
}

/// Nodes that the server has made and that cannot be deleted.
pub(crate) fn is_special(path: &str) -> bool {
    matches!(
        path,
        "/" | "/zookeeper" | "/zookeeper/quota" | "/zookeeper/config"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_servers_rules() {
        for good in ["/", "/a", "/a/b.c", "/a/...", "/zookeeper", "/ä/漢", "/a b"] {
            assert!(is_valid(good), "{good:?}");
        }
        for bad in [
            "",
            "a",
            "//",
            "/a/",
            "/a//b",
            "/.",
            "/..",
            "/a/./b",
            "/a/..",
            "/a\0",
            "/\u{1}",
            "/\u{7f}",
            "/\u{fffd}",
            "/😀",
            "/\u{f8ff}",
        ] {
            assert!(!is_valid(bad), "{bad:?}");
        }
    }
}
