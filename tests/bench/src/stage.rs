//! What all workloads are given: servers, programs, settings.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use zoolock_ensemble::{Ensemble, Observer, eventually};

use crate::library::{Library, Manifest, Service};
use crate::service::Services;
use crate::settings::Settings;

/// A closed session's nodes go at once, on one server.
const SETTLE: Duration = Duration::from_secs(5);

pub(crate) struct Stage {
    pub(crate) settings: Settings,
    pub(crate) manifest: Manifest,
    pub(crate) bare: Library,
    pub(crate) libraries: Vec<Library>,
    /// One server, which forces its log to disk as a real one does.
    pub(crate) ensemble: Ensemble,
    services: RefCell<Services>,
}

/// How a program reaches its server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    Direct,
    /// Through a proxy that counts, and takes time.
    Counted,
}

impl Stage {
    pub(crate) fn new(settings: Settings) -> Result<Stage, String> {
        let manifest = Manifest::read(&settings.manifest)?;
        let libraries = manifest.choose(&settings.libraries)?;
        Ok(Stage {
            ensemble: start_ensemble(None)?,
            bare: bare()?,
            libraries,
            manifest,
            settings,
            services: RefCell::default(),
        })
    }

    /// The libraries that can do a workload.
    pub(crate) fn libraries_for(&self, workload: &str) -> Vec<Library> {
        let able = self
            .libraries
            .iter()
            .filter(|library| library.does(workload));
        able.cloned().collect()
    }

    pub(crate) fn address(&self, service: Service, way: Way) -> Result<String, String> {
        match (service, way) {
            (Service::Zookeeper, Way::Direct) => Ok(self.ensemble.direct()),
            (Service::Zookeeper, Way::Counted) => Ok(self.ensemble.hosts()),
            _ => self
                .services
                .borrow_mut()
                .address(service, &self.manifest, &self.data()),
        }
    }

    /// On the same file system for all servers.
    fn data(&self) -> PathBuf {
        self.ensemble.dir().to_owned()
    }
}

/// One server, with a heap of so many megabytes if it has to be small.
pub(crate) fn start_ensemble(heap_mb: Option<u32>) -> Result<Ensemble, String> {
    let mut builder = Ensemble::builder().fsync(true).line("maxClientCnxns=0");
    if let Some(heap_mb) = heap_mb {
        builder = builder.heap_mb(heap_mb);
    }
    builder.start().map_err(|error| error.to_string())
}

/// Creates and deletes that a node's children have seen.
pub(crate) fn writes(observer: &Observer, path: &str) -> Result<usize, String> {
    match observer.exists(path) {
        Ok(Some(stat)) => Ok(stat.cversion as usize),
        Ok(None) => Err(format!("{path} is not there")),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn check_nothing_left(observer: &Observer, path: &str) -> Result<(), String> {
    let mut left = Ok(Vec::new());
    eventually(SETTLE, || {
        left = observer.children(path);
        left.as_ref().is_ok_and(Vec::is_empty)
    });
    match left {
        Ok(left) if left.is_empty() => Ok(()),
        Ok(left) => Err(format!("contenders left at {path}: {}", left.join(" "))),
        Err(error) => Err(error.to_string()),
    }
}

/// The bare socket, built beside the benchmark itself.
fn bare() -> Result<Library, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("cannot find bench-bare: {error}"))?;
    let program = own
        .with_file_name("bench-bare")
        .to_string_lossy()
        .into_owned();
    Ok(Library {
        name: "bare".to_owned(),
        library: "bare socket".to_owned(),
        language: "Rust".to_owned(),
        version: String::new(),
        interpreter: Vec::new(),
        command: vec![program],
        service: Service::Zookeeper,
        tokens: true,
        contender: String::new(),
        light: false,
        objects: false,
        without: vec!["waiters".to_owned()],
    })
}
