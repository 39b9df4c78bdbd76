//! Real ZooKeeper ensembles for tests, with links that can be disturbed.
//!
//! ```no_run
//! use std::time::Duration;
//! use zoolock_ensemble::{Ensemble, NodeKind};
//!
//! # fn main() -> zoolock_ensemble::Result<()> {
//! let ensemble = Ensemble::builder().servers(3).start()?;
//! let observer = ensemble.observer(1)?;
//! observer.create("/node", b"data", NodeKind::Persistent)?;
//! // Give ensemble.hosts() to the client under test, then:
//! ensemble.client_link(1)?.freeze();
//! ensemble.kill(2)?;
//! ensemble.restart(2)?;
//! ensemble.wait_serving(Duration::from_secs(30))?;
//! # Ok(())
//! # }
//! ```

mod authority;
mod builder;
mod config;
pub mod control;
mod ensemble;
mod error;
mod eventually;
mod flock;
mod four_letter;
mod handshake;
mod java;
mod log;
mod observer;
mod op;
mod ports;
mod proxy;
mod relay;
mod server;
mod snapshot;
mod spawn;
mod tempdir;

pub mod jars;

pub use authority::{Authority, Identity};
pub use builder::Builder;
pub use config::{ClientCertificate, Tls};
pub use ensemble::{Ensemble, Role, Session};
pub use error::{Error, Result};
pub use eventually::{eventually, retry, until};
pub use log::{Entry, RequestLog, What};
pub use observer::{NodeKind, Observer};
pub use op::Op;
pub use proxy::{Action, Cut, Direction, Fault, Link, Message, Moment, Scope};
pub use relay::Relay;
pub use zookeeper::{Acl, Permission, Stat};
