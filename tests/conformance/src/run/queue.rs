//! Which children of a lock path are contenders, read by the runner itself and not by what it tests.

/// In the order of the text that each side of a downgrade has to have: the writer first.
const MARKERS: [(&str, Side); 5] = [
    ("-lock-", Side::Exclusive),
    ("__lock__", Side::Exclusive),
    ("__WRIT__", Side::Exclusive),
    ("__READ__", Side::Shared),
    ("__rlock__", Side::Shared),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Exclusive,
    Shared,
}

/// The contenders among a node's children, in the order of the queue, with their numbers.
pub(super) fn contenders(children: &[String]) -> Vec<(String, i64)> {
    let mut contenders: Vec<_> = children.iter().filter_map(|name| contender(name)).collect();
    contenders.sort();
    contenders
        .into_iter()
        .map(|(number, _, name)| (name, number))
        .collect()
}

fn contender(name: &str) -> Option<(i64, Side, String)> {
    MARKERS.iter().find_map(|(marker, side)| {
        let (_, digits) = name.rsplit_once(marker)?;
        let number = digits.parse().ok()?;
        Some((number, *side, name.to_owned()))
    })
}

/// Whether a name has the form of a pattern, in which `<uuid>`, `<hex32>` and `<seq>` stand for what they say.
pub(super) fn matches(name: &str, pattern: &str) -> bool {
    let Some(open) = pattern.find('<') else {
        return name == pattern;
    };
    let Some(length) = pattern[open..].find('>') else {
        return false;
    };
    let (before, after) = (&pattern[..open], &pattern[open + length + 1..]);
    let Some(rest) = name.strip_prefix(before) else {
        return false;
    };
    let taken = match &pattern[open + 1..open + length] {
        "uuid" => 36,
        "hex32" => 32,
        "seq" => 10,
        _ => return false,
    };
    let (Some(text), Some(rest)) = (rest.get(..taken), rest.get(taken..)) else {
        return false;
    };
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let fits = match taken {
        36 => text.char_indices().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            _ => hex(c),
        }),
        32 => text.chars().all(hex),
        _ => text.chars().all(|c| c.is_ascii_digit()),
    };
    fits && matches(rest, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_are_ordered_by_number_and_strangers_left_out() {
        let children = [
            "_c_x-lock-0000000010",
            "zzz__lock__0000000002",
            "aaa-lock-",
            "stranger",
            "_c_y-__READ__0000000002",
        ];
        let children = children.map(str::to_owned);
        let names: Vec<_> = contenders(&children)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            names,
            [
                "zzz__lock__0000000002",
                "_c_y-__READ__0000000002",
                "_c_x-lock-0000000010"
            ]
        );
    }

    #[test]
    fn patterns_match_whole_names() {
        let uuid = "01234567-89ab-cdef-0123-456789abcdef";
        let pattern = "_c_<uuid>-lock-<seq>";
        assert!(matches(&format!("_c_{uuid}-lock-0000000000"), pattern));
        assert!(!matches(&format!("_c_{uuid}-lock-00000000001"), pattern));
        assert!(!matches(
            &format!("_c_{}-lock-0000000000", uuid.to_uppercase()),
            pattern
        ));
        assert!(!matches("_c_-lock-0000000000", pattern));
    }
}
