//! TLS on links that fail.

use std::time::{Duration, Instant};

use zoolock_ensemble::Relay;

use crate::client::{Client, Who};
use crate::scene::{Scene, wait};

/// Two ways to one server, which are two servers to the client.
struct Ways([Relay; 2]);

impl Ways {
    fn hosts(&self) -> String {
        format!("{},{}", self.0[0].host(), self.0[1].host())
    }

    /// The one that carries the session.
    fn used(&self) -> Result<&Relay, String> {
        let used = self.0.iter().find(|way| way.link().connections() > 0);
        used.ok_or_else(|| "no connection is open".into())
    }

    /// Breaks the way that carries the session, and waits until another connection does.
    fn leave(&self, client: &mut Client, break_it: impl Fn(&Relay)) -> Result<(), String> {
        let before = self.0[0].accepted() + self.0[1].accepted();
        break_it(self.used()?);
        wait("another connection", || {
            self.0[0].accepted() + self.0[1].accepted() > before
        })?;
        connected(client)
    }
}

fn connected(client: &mut Client) -> Result<(), String> {
    wait("connected", || {
        client
            .session_state()
            .is_ok_and(|state| state == "connected")
    })
}

/// R3, R4, R16: the session moves and the lease goes on, until no way is left; then the loss is told.
pub fn faults(scene: &mut Scene<'_>) -> Result<(), String> {
    let ways = Ways([scene.relay()?, scene.relay()?]);
    let who = Who::trusting(&scene.stage.authority.ca());
    let mut client = scene.client("client")?;
    client.connect(&ways.hosts(), &who)?;
    client.mutex("m", &scene.path("lock"), &[])?;
    client.mutex("other", &scene.path("other"), &[])?;
    let (first, _) = client.lock("m", "g")?;
    let session = client.sessions("m")?;

    ways.leave(&mut client, |way| way.link().reset())?;
    ways.leave(&mut client, |way| way.link().close())?;
    let frozen = ways.used()?;
    ways.leave(&mut client, |way| way.link().freeze())?;
    let moved = |way: &Relay| way.host() != frozen.host() && way.link().connections() > 0;
    if !ways.0.iter().any(moved) {
        return Err("the session did not leave the frozen link".into());
    }
    frozen.link().thaw();
    for way in &ways.0 {
        way.link().delay(Duration::from_millis(40));
    }
    client.lock("other", "o")?;
    client.release("o")?;
    for way in &ways.0 {
        way.link().heal().map_err(|error| error.to_string())?;
    }

    // A short outage: nobody answers, and then everybody does again.
    for way in &ways.0 {
        way.link().refuse();
        way.link().reset();
    }
    wait("the outage is noticed", || {
        client
            .session_state()
            .is_ok_and(|state| state == "suspended")
    })?;
    let during = client.guard_state("g")?;
    for way in &ways.0 {
        way.link().accept().map_err(|error| error.to_string())?;
    }
    connected(&mut client)?;
    if during != "suspended" || client.has_lost() || client.guard_state("g")? != "held" {
        return Err(format!("the lock did not outlast the faults: {during}"));
    }
    if client.sessions("m")? != session {
        return Err("another session".into());
    }

    for way in &ways.0 {
        way.link().freeze();
    }
    client.told("g")?;
    if client.guard_state("g")? != "lost" {
        return Err("told, but not lost".into());
    }
    for way in &ways.0 {
        way.link().thaw();
    }
    let (second, _) = client.lock("m", "again")?;
    if second <= first {
        return Err(format!("tokens do not rise: {first}, {second} (R2)"));
    }
    client.release("again")?;
    client.exit()
}

/// R6, R16: who takes a connection and says nothing costs an attempt, and no more.
pub fn never_tls(scene: &mut Scene<'_>) -> Result<(), String> {
    let (silent, good) = (scene.relay()?, scene.relay()?);
    silent.link().freeze();
    let who = Who::trusting(&scene.stage.authority.ca()).with("connect_timeout_ms", "1500");
    let mut client = scene.client("client")?;
    let began = Instant::now();
    let hosts = silent.host();
    let fields = Client::connecting(&hosts, &who);
    client.refused("connect", &fields, "Unavailable", &["answer"])?;
    let took = began.elapsed();
    if took < Duration::from_millis(1_500) || took > Duration::from_millis(3_500) {
        return Err(format!("1.5 s took {took:?}"));
    }
    if silent.accepted() > 4 {
        return Err(format!("{} connections in 1.5 s", silent.accepted()));
    }
    // A third of the session timeout for each attempt.
    let who = Who::trusting(&scene.stage.authority.ca()).with("session_timeout_ms", "6000");
    for _ in 0..4 {
        let mut other = scene.client("other")?;
        let began = Instant::now();
        other.connect(&format!("{hosts},{}", good.host()), &who)?;
        if began.elapsed() > Duration::from_secs(8) {
            return Err(format!("the silent server cost {:?}", began.elapsed()));
        }
        other.exit()?;
    }
    client.exit()
}
