//! Connect strings, in ZooKeeper's own form: `host:port,host:port/chroot`.

use std::fmt;
use std::net::Ipv6Addr;

use crate::path;
use crate::quoted::Quoted;

/// ZooKeeper's default client port.
const DEFAULT_PORT: u16 = 2181;

/// DNS's bound on a name, in bytes.
const MAX_HOST: usize = 253;

/// Where an ensemble is, normalised: equal values are the same servers in the same order, under the same chroot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ConnectString {
    pub(crate) servers: Vec<Server>,
    /// Begins with `/`, or is empty.
    pub(crate) chroot: String,
}

/// One server of an ensemble.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    /// A name in lower case, or an address; an IPv6 address without its brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl ConnectString {
    /// Parses a connect string, or says in one line which part of it is wrong and how.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(scheme) = scheme(text) {
            // Only the scheme is shown: credentials may follow it (R19).
            return Err(format!(
                "it begins with {}, but a connect string has no scheme: host:port,host:port/chroot",
                Quoted(scheme)
            ));
        }
        let (hosts, chroot) = match text.find('/') {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        if hosts.trim().is_empty() {
            return Err("it names no server".into());
        }
        if hosts.contains('@') {
            // What stands before it may be a password: nothing is shown (R19).
            return Err("a server is host:port; credentials belong into the option `auth`".into());
        }
        let mut servers: Vec<Server> = Vec::new();
        for (index, part) in hosts.split(',').enumerate() {
            let part = part.trim();
            if part.is_empty() {
                return Err(format!("server {} of the list is empty", index + 1));
            }
            let server =
                Server::parse(part).map_err(|wrong| format!("server {}: {wrong}", Quoted(part)))?;
            if servers.contains(&server) {
                return Err(format!("server {server} is there twice"));
            }
            servers.push(server);
        }
        // As in ZooKeeper's own client, a chroot of "/" is none.
        let chroot = if chroot == "/" { "" } else { chroot };
        if !chroot.is_empty() {
            path::validate(chroot)
                .map_err(|wrong| format!("chroot {}: {wrong}", Quoted(chroot)))?;
        }
        Ok(ConnectString {
            servers,
            chroot: chroot.to_owned(),
        })
    }
}

/// The `zk://` of a text that is a URL.
fn scheme(text: &str) -> Option<&str> {
    let (name, _) = text.split_once("://")?;
    let allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.');
    if !name.trim_start().chars().all(allowed) {
        return None;
    }
    text.get(..name.len() + "://".len()).map(str::trim_start)
}

impl Server {
    fn parse(part: &str) -> Result<Self, String> {
        let (host, port) = if let Some(bracketed) = part.strip_prefix('[') {
            let (address, rest) = bracketed.split_once(']').ok_or("the ']' is missing")?;
            let port = match rest.strip_prefix(':') {
                Some(port) => Some(port),
                None if rest.is_empty() => None,
                None => return Err("after ']' only a ':' and a port may follow".into()),
            };
            (parse_ipv6(address)?, port)
        } else {
            let (host, port) = match part.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (part, None),
            };
            if port.is_some_and(|port| port.contains(':')) {
                return Err("it has more than one ':'; an IPv6 address needs brackets".into());
            }
            (parse_name(host)?, port)
        };
        let port = port.map_or(Ok(DEFAULT_PORT), parse_port)?;
        Ok(Server { host, port })
    }
}

fn parse_name(host: &str) -> Result<String, String> {
    if host.is_empty() {
        return Err("the host is empty".into());
    }
    if host.len() > MAX_HOST {
        return Err(format!("the host is longer than {MAX_HOST} bytes"));
    }
    let allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '.' | '_');
    match host.chars().find(|char| !allowed(*char)) {
        Some(char) => Err(format!(
            "the host has the character {char:?}, which no host name has"
        )),
        None => Ok(host.to_ascii_lowercase()),
    }
}

/// An address with or without a zone (`fe80::1%eth0`).
fn parse_ipv6(text: &str) -> Result<String, String> {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let address: Ipv6Addr = address
        .parse()
        .map_err(|_| "between the brackets is no IPv6 address")?;
    match zone {
        None => Ok(address.to_string()),
        Some(zone) if !zone.is_empty() && zone.chars().all(|char| char.is_ascii_graphic()) => {
            Ok(format!("{address}%{zone}"))
        }
        Some(_) => Err("the zone of the IPv6 address is malformed".into()),
    }
}

fn parse_port(text: &str) -> Result<u16, String> {
    if text.is_empty() {
        return Err("the port is empty".into());
    }
    // A sign would pass for a number.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits && port != 0 => Ok(port),
        _ => Err("the port is not a number from 1 to 65535".into()),
    }
}

impl fmt::Display for ConnectString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, server) in self.servers.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{server}")?;
        }
        f.write_str(&self.chroot)
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Server { host, port } = self;
        match host.contains(':') {
            true => write!(f, "[{host}]:{port}"),
            false => write!(f, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> String {
        ConnectString::parse(text).unwrap().to_string()
    }

    #[test]
    fn good_strings() {
        for (text, normal_form) in [
            ("127.0.0.1:2181", "127.0.0.1:2181"),
            ("a", "a:2181"),
            ("a:1,b:65535", "a:1,b:65535"),
            (" a:1 , b ", "a:1,b:2181"),
            ("A.Example.org:2181", "a.example.org:2181"),
            ("zoo_1", "zoo_1:2181"),
            ("a:02181", "a:2181"),
            ("a/chroot/x", "a:2181/chroot/x"),
            ("a:1,b:2/chroot", "a:1,b:2/chroot"),
            ("a/with,comma", "a:2181/with,comma"),
            ("a/", "a:2181"),
            ("[::1]", "[::1]:2181"),
            ("[::1]:99/x", "[::1]:99/x"),
            ("[0:0:0::A]:99", "[::a]:99"),
            ("[fe80::1%eth0]:99", "[fe80::1%eth0]:99"),
        ] {
            assert_eq!(normal(text), normal_form);
        }
    }

    #[test]
    fn fields() {
        let parsed = ConnectString::parse("a:1,[::1]/x").unwrap();
        let server = |host: &str, port| Server {
            host: host.into(),
            port,
        };
        assert_eq!(parsed.servers, [server("a", 1), server("::1", 2181)]);
        assert_eq!(parsed.chroot, "/x");
        assert_eq!(ConnectString::parse("a").unwrap().chroot, "");
    }

    #[test]
    fn bad_strings() {
        for (text, wrong) in [
            ("", "it names no server"),
            (" ", "it names no server"),
            ("/chroot", "it names no server"),
            ("a,", "server 2 of the list is empty"),
            (",a", "server 1 of the list is empty"),
            ("a,,b", "server 2 of the list is empty"),
            ("a,A:2181", "server a:2181 is there twice"),
            ("[::1],[0::1]", "server [::1]:2181 is there twice"),
            ("a:", r#"server "a:": the port is empty"#),
            (":1", r#"server ":1": the host is empty"#),
            (
                "a:0",
                r#"server "a:0": the port is not a number from 1 to 65535"#,
            ),
            (
                "a:65536",
                r#"server "a:65536": the port is not a number from 1 to 65535"#,
            ),
            (
                "a:+1",
                r#"server "a:+1": the port is not a number from 1 to 65535"#,
            ),
            (
                "a:1 2",
                r#"server "a:1 2": the port is not a number from 1 to 65535"#,
            ),
            (
                "::1",
                r#"server "::1": it has more than one ':'; an IPv6 address needs brackets"#,
            ),
            ("[::1", r#"server "[::1": the ']' is missing"#),
            (
                "[::1]2181",
                r#"server "[::1]2181": after ']' only a ':' and a port may follow"#,
            ),
            ("[::1]:", r#"server "[::1]:": the port is empty"#),
            (
                "[a]:1",
                r#"server "[a]:1": between the brackets is no IPv6 address"#,
            ),
            (
                "[::1%]",
                r#"server "[::1%]": the zone of the IPv6 address is malformed"#,
            ),
            (
                "a b",
                r#"server "a b": the host has the character ' ', which no host name has"#,
            ),
            (
                "a;b",
                r#"server "a;b": the host has the character ';', which no host name has"#,
            ),
            ("a/x/", r#"chroot "/x/": it ends with '/'"#),
            (
                "bob:secret@a:1",
                "a server is host:port; credentials belong into the option `auth`",
            ),
            (
                "zk://user:secret@a:1/b",
                r#"it begins with "zk://", but a connect string has no scheme: host:port,host:port/chroot"#,
            ),
            (
                " http://a",
                r#"it begins with "http://", but a connect string has no scheme: host:port,host:port/chroot"#,
            ),
            ("a:1,b://c", r#"server "b:": the port is empty"#),
            ("a//", r#"chroot "//": it ends with '/'"#),
            (
                "a/x\n",
                r#"chroot "/x\n": it has the character U+000A at byte 2, which ZooKeeper forbids"#,
            ),
        ] {
            assert_eq!(ConnectString::parse(text), Err(wrong.into()), "{text}");
        }
    }

    #[test]
    fn messages_are_short() {
        let long = ConnectString::parse(&"ü".repeat(100_000)).unwrap_err();
        assert!(long.len() < 300, "{long}");
    }

    proptest! {
        #[test]
        fn anything_ends_in_one_line(text: String) {
            if let Err(message) = ConnectString::parse(&text) {
                prop_assert!(!message.contains(char::is_control));
            }
        }

        #[test]
        fn near_misses(text in r"[\[\]a:,/%0-9. ]{0,20}") {
            if let Ok(parsed) = ConnectString::parse(&text) {
                prop_assert!(!parsed.servers.is_empty());
                let again = ConnectString::parse(&parsed.to_string());
                prop_assert_eq!(again, Ok(parsed));
            }
        }
    }
}
