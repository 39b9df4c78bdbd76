//! What is measured: the manifest that the set-up writes, read.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What a library locks with.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Service {
    Zookeeper,
    RedisMemory,
    RedisFsync,
    Etcd,
}

/// One program.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Library {
    /// As `LIBRARIES` names it, such as `rust-async`.
    pub(crate) name: String,
    pub(crate) library: String,
    pub(crate) language: String,
    pub(crate) version: String,
    pub(crate) command: Vec<String>,
    /// Its interpreter with nothing to do; nothing where a program is started without one.
    #[serde(default)]
    pub(crate) interpreter: Vec<String>,
    pub(crate) service: Service,
    /// Whether it tells fencing tokens.
    pub(crate) tokens: bool,
    /// How the names of its contenders begin, up to the number.
    pub(crate) contender: String,
    /// Whether its waiters cost no thread, so that ten thousand are worth trying.
    pub(crate) light: bool,
    /// Whether it can say what as many waiting objects of its language weigh without it.
    #[serde(default)]
    pub(crate) objects: bool,
    /// Workloads that it cannot do.
    #[serde(default)]
    pub(crate) without: Vec<String>,
}

/// What is not measured, and why.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Skipped {
    pub(crate) name: String,
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) libraries: Vec<Library>,
    pub(crate) skipped: Vec<Skipped>,
    /// The servers' programs, where they are there.
    pub(crate) redis_server: Option<String>,
    pub(crate) etcd_server: Option<String>,
}

impl Library {
    pub(crate) fn is_ours(&self) -> bool {
        self.library == "zoolock"
    }

    pub(crate) fn does(&self, workload: &str) -> bool {
        !self
            .without
            .iter()
            .any(|without| workload.starts_with(without.as_str()))
    }
}

impl Manifest {
    pub(crate) fn read(file: &Path) -> Result<Manifest, String> {
        let text =
            fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Only these, in the manifest's order; none given means all.
    pub(crate) fn choose(&self, names: &[String]) -> Result<Vec<Library>, String> {
        let known: Vec<&str> = self
            .libraries
            .iter()
            .map(|library| library.name.as_str())
            .collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!(
                "LIBRARIES: {unknown} is none of {}",
                known.join(" ")
            ));
        }
        let chosen = self.libraries.iter();
        let chosen = chosen.filter(|library| names.is_empty() || names.contains(&library.name));
        Ok(chosen.cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        serde_json::from_str(
            r#"{"libraries":[
                {"name":"c","library":"zoolock","language":"C","version":"1","command":["c"],"service":"zookeeper",
                 "tokens":true,"contender":"_c_-lock-","light":true},
                {"name":"redis-fsync","library":"Redis","language":"Python","version":"5","command":["r"],
                 "service":"redis-fsync","tokens":false,"contender":"","light":false,"without":["waiters","start"]}],
              "skipped":[{"name":"etcd","reason":"no server"}],"redis_server":null,"etcd_server":null}"#,
        )
        .unwrap()
    }

    #[test]
    fn libraries_are_chosen_by_name() {
        let manifest = manifest();
        assert_eq!(manifest.choose(&[]).unwrap().len(), 2);
        let chosen = manifest.choose(&["redis-fsync".to_owned()]).unwrap();
        assert_eq!((chosen.len(), chosen[0].service), (1, Service::RedisFsync));
        let error = manifest.choose(&["reddis".to_owned()]).unwrap_err();
        assert!(
            error.contains("reddis") && error.contains("redis-fsync"),
            "{error}"
        );
    }

    #[test]
    fn what_a_library_cannot_do_is_known_by_its_beginning() {
        let manifest = manifest();
        assert!(manifest.libraries[0].is_ours() && manifest.libraries[0].does("waiters-10000"));
        assert!(!manifest.libraries[1].does("waiters-10000"));
        assert!(manifest.libraries[1].does("contention"));
    }
}
