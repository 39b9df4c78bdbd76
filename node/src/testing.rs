//! A ZooKeeper server in this process, for tests.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{BigInt, Either, i64n};
use napi_derive::napi;
use zoolock::binding::millis;
use zoolock::testing::{Server, ServerBuilder, ServerSession};
use zoolock::{Error, Result};

use crate::calls::Calls;
use crate::event::Value;
use crate::failure::Failure;
use crate::outcome::{failure, outcome};

/// Options of a test server.
#[napi(object, object_to_js = false)]
pub struct TestServerOptions {
    pub port: Option<u32>,
    pub address: Option<String>,
    pub tick_ms: Option<f64>,
    pub min_session_timeout_ms: Option<f64>,
    pub max_session_timeout_ms: Option<f64>,
    pub container_check_ms: Option<f64>,
}

impl TestServerOptions {
    fn builder(self) -> Result<ServerBuilder> {
        let mut builder = Server::builder();
        if let Some(port) = self.port {
            let port = u16::try_from(port);
            builder = builder.port(port.map_err(|_| invalid("port", "must be 0 to 65535"))?);
        }
        if let Some(address) = self.address {
            let address = address.parse::<IpAddr>();
            builder = builder.address(address.map_err(|_| invalid("address", "is no IP address"))?);
        }
        if let Some(value) = self.tick_ms {
            builder = builder.tick(length("tickMs", value)?);
        }
        if let Some(value) = self.min_session_timeout_ms {
            builder = builder.min_session_timeout(length("minSessionTimeoutMs", value)?);
        }
        if let Some(value) = self.max_session_timeout_ms {
            builder = builder.max_session_timeout(length("maxSessionTimeoutMs", value)?);
        }
        if let Some(value) = self.container_check_ms {
            builder = builder.container_check(length("containerCheckMs", value)?);
        }
        Ok(builder)
    }
}

fn length(argument: &str, value: f64) -> Result<Duration> {
    millis("start", argument, value)
}

fn invalid(argument: &str, problem: &str) -> Error {
    Error::invalid_argument("start", argument, problem)
}

/// Settles `call` with a server that listens. It ends with the environment, or with the process.
#[napi]
pub fn start_test_server(
    calls: &Calls,
    call: i64,
    options: TestServerOptions,
    ends_with_process: bool,
) {
    calls.inbox.run("start", call, move || {
        let server = options.builder()?.start()?;
        Ok(Value::Server(Started {
            server: Arc::new(server),
            ends_with_process,
        }))
    });
}

/// A server on its way to JavaScript.
pub struct Started {
    server: Arc<Server>,
    ends_with_process: bool,
}

#[napi]
pub struct TestServerHandle(Started);

impl From<Started> for TestServerHandle {
    fn from(started: Started) -> TestServerHandle {
        TestServerHandle(started)
    }
}

impl Drop for TestServerHandle {
    fn drop(&mut self) {
        let runs = self.server().sessions().is_ok();
        if runs && self.0.ends_with_process {
            // The process is about to close its sessions (R17), and those with this server should
            // still find it.
            std::mem::forget(Arc::clone(&self.0.server));
        }
    }
}

impl TestServerHandle {
    fn server(&self) -> &Server {
        &self.0.server
    }
}

/// A session as the server knows it.
#[napi(object, object_from_js = false)]
pub struct TestServerSession {
    pub id: i64n,
    pub timeout_ms: f64,
    pub connected: bool,
    pub ephemerals: Vec<String>,
}

impl From<ServerSession> for TestServerSession {
    fn from(session: ServerSession) -> TestServerSession {
        TestServerSession {
            id: i64n(session.id),
            timeout_ms: session.timeout.as_secs_f64() * 1000.0,
            connected: session.connected,
            ephemerals: session.ephemerals,
        }
    }
}

/// JavaScript has checked that it fits.
fn number(id: &BigInt) -> i64 {
    id.get_i64().0
}

// None of these waits for a client, so they are quick enough for the JavaScript thread.
#[napi]
impl TestServerHandle {
    #[napi(getter)]
    pub fn hosts(&self) -> String {
        self.server().hosts()
    }

    #[napi]
    pub fn sessions(&self) -> Either<Vec<TestServerSession>, Failure> {
        let sessions = self.server().sessions();
        outcome(sessions.map(|all| all.into_iter().map(TestServerSession::from).collect()))
    }

    #[napi]
    pub fn expire_session(&self, id: BigInt) -> Either<bool, Failure> {
        outcome(self.server().expire_session(number(&id)))
    }

    #[napi]
    pub fn expire_all(&self) -> Either<u32, Failure> {
        outcome(self.server().expire_all().map(count))
    }

    #[napi]
    pub fn cut_session(&self, id: BigInt) -> Either<bool, Failure> {
        outcome(self.server().cut_session(number(&id)))
    }

    #[napi]
    pub fn cut_all(&self) -> Either<u32, Failure> {
        outcome(self.server().cut_all().map(count))
    }

    #[napi]
    pub fn freeze_session(&self, id: BigInt) -> Either<bool, Failure> {
        outcome(self.server().freeze_session(number(&id)))
    }

    #[napi]
    pub fn thaw_session(&self, id: BigInt) -> Either<bool, Failure> {
        outcome(self.server().thaw_session(number(&id)))
    }

    #[napi]
    pub fn freeze_all(&self) -> Option<Failure> {
        failure(self.server().freeze_all())
    }

    #[napi]
    pub fn thaw_all(&self) -> Option<Failure> {
        failure(self.server().thaw_all())
    }

    #[napi]
    pub fn delay_answers(&self, delay_ms: f64) -> Option<Failure> {
        let delay = millis("delay_answers", "delayMs", delay_ms);
        failure(delay.and_then(|delay| self.server().delay_answers(delay)))
    }

    #[napi]
    pub fn refuse_connections(&self) -> Option<Failure> {
        failure(self.server().refuse_connections())
    }

    #[napi]
    pub fn accept_connections(&self) -> Option<Failure> {
        failure(self.server().accept_connections())
    }

    /// Settles `call` with nothing.
    #[napi]
    pub fn stop(&self, calls: &Calls, call: i64) {
        let server = Arc::clone(&self.0.server);
        calls.inbox.run("stop", call, move || {
            server.stop();
            Ok(Value::Nothing)
        });
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
