//! The `ip` scheme, for IPv4 as in `127.0.0.1` and `10.0.0.0/8`.

fn parse(expression: &str) -> Option<(u32, u32)> {
    let (address, bits) = match expression.split_once('/') {
        Some((address, bits)) => (address, bits.parse().ok()?),
        None => (expression, 32),
    };
    let address: std::net::Ipv4Addr = address.parse().ok()?;
    (bits <= 32).then_some((u32::from(address), bits))
}

pub(crate) fn is_valid(expression: &str) -> bool {
    parse(expression).is_some()
}

pub(crate) fn matches(client: &str, expression: &str) -> bool {
    let (Some((client, _)), Some((address, bits))) = (parse(client), parse(expression)) else {
        return false;
    };
    let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
    client & mask == address & mask
}
