//! The thread that carries all links.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::{Context, Result};
use crate::log::RequestLog;
use crate::proxy::connection::{TO_CLIENT, TO_SERVER};
use crate::proxy::state::{LinkState, State};

/// The running proxy; dropping it closes everything.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    waker: UnixStream,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the thread look at the state again.
    pub(crate) fn wake(&self) {
        // A full pipe wakes it as well.
        let _ = (&self.waker).write(&[1]);
    }
}

impl Proxy {
    pub(crate) fn start(mut links: Vec<LinkState>, log: RequestLog) -> Result<Self> {
        for link in &mut links {
            link.update_listener()
                .context(|| "cannot open a proxy's port".into())?;
        }
        let (waker, woken) = UnixStream::pair().context(|| "cannot start the proxy".into())?;
        for end in [&waker, &woken] {
            end.set_nonblocking(true)
                .context(|| "cannot start the proxy".into())?;
        }
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(links, log)),
            waker,
        });
        let thread = thread::Builder::new()
            .name("proxy".into())
            .spawn({
                let shared = shared.clone();
                move || run(&shared, woken)
            })
            .context(|| "cannot start the proxy".into())?;
        Ok(Proxy {
            shared,
            thread: Some(thread),
        })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whose descriptor a poll entry is.
#[derive(Clone, Copy)]
enum Owner {
    Waker,
    Link(usize),
    Client(u64),
    Server(u64),
    Draining,
}

fn run(shared: &Shared, mut woken: UnixStream) {
    loop {
        let (mut fds, owners, timeout) = interests(&shared.lock(), &woken);
        if poll(&mut fds, timeout).is_err() {
            // Only memory pressure gets here; the next round may do better.
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        let mut state = shared.lock();
        if state.stop {
            state.connections.clear();
            state.draining.clear();
            state.links.clear();
            return;
        }
        let mut ready: std::collections::BTreeMap<u64, [bool; 2]> = Default::default();
        for (fd, owner) in fds.iter().zip(owners) {
            if fd.revents == 0 {
                continue;
            }
            let readable = fd.revents & (libc::POLLIN | libc::POLLERR | libc::POLLHUP) != 0;
            let writable = fd.revents & (libc::POLLOUT | libc::POLLERR | libc::POLLHUP) != 0;
            match owner {
                Owner::Waker => while woken.read(&mut [0; 64]).is_ok_and(|count| count > 0) {},
                Owner::Link(index) => state.accept(index),
                Owner::Draining => {}
                Owner::Client(id) => {
                    ready.entry(id).or_default()[TO_SERVER] |= readable;
                    unblock(&mut state, id, TO_CLIENT, writable);
                }
                Owner::Server(id) => {
                    ready.entry(id).or_default()[TO_CLIENT] |= readable;
                    if writable {
                        finish_connecting(&mut state, id);
                    }
                    unblock(&mut state, id, TO_SERVER, writable);
                }
            }
        }
        drain(&mut state);
        pump(&mut state, &ready);
    }
}

fn unblock(state: &mut State, id: u64, way: usize, writable: bool) {
    if writable && let Some(connection) = state.connections.get_mut(&id) {
        connection.ways[way].blocked = false;
    }
}

fn finish_connecting(state: &mut State, id: u64) {
    let Some(connection) = state.connections.get_mut(&id) else {
        return;
    };
    if connection.connecting
        && let Some(end) = connection.finish_connecting(Instant::now())
    {
        state.end(id, end);
    }
}

fn pump(state: &mut State, ready: &std::collections::BTreeMap<u64, [bool; 2]>) {
    let now = Instant::now();
    let State {
        links,
        connections,
        log,
        ..
    } = state;
    let mut ended = Vec::new();
    for (id, connection) in connections {
        let readable = ready.get(id).copied().unwrap_or_default();
        if let Some(end) = connection.retry_connecting(now) {
            ended.push((*id, end));
            continue;
        }
        let rules = &mut links[connection.link].rules;
        if let Some(end) = connection.pump(readable, now, rules, log) {
            ended.push((*id, end));
        }
    }
    for (id, end) in ended {
        state.end(id, end);
    }
}

fn drain(state: &mut State) {
    let now = Instant::now();
    let mut buffer = [0; 16 << 10];
    state.draining.retain_mut(|(stream, deadline)| {
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return *deadline > now,
                Err(_) => return false,
            }
        }
    });
}

/// What to poll for, and for how long at most.
fn interests(state: &State, woken: &UnixStream) -> (Vec<libc::pollfd>, Vec<Owner>, i32) {
    let mut fds = Vec::new();
    let mut owners = Vec::new();
    // An entry without interest is left out: poll would report a hang-up of it again and again.
    let mut add = |fd: i32, events: i16, owner: Owner| {
        if events != 0 {
            fds.push(libc::pollfd {
                fd,
                events,
                revents: 0,
            });
            owners.push(owner);
        }
    };
    add(woken.as_raw_fd(), libc::POLLIN, Owner::Waker);
    for (index, link) in state.links.iter().enumerate() {
        if let Some(listener) = &link.listener {
            add(listener.as_raw_fd(), libc::POLLIN, Owner::Link(index));
        }
    }
    let mut due: Option<Instant> = None;
    let mut at = |time: Instant| due = Some(due.map_or(time, |due| due.min(time)));
    for (stream, deadline) in &state.draining {
        add(stream.as_raw_fd(), libc::POLLIN, Owner::Draining);
        at(*deadline);
    }
    for (id, connection) in &state.connections {
        if let Some(time) = connection.retry_at {
            at(time);
            continue;
        }
        if connection.connecting {
            add(
                connection.server.as_raw_fd(),
                libc::POLLOUT,
                Owner::Server(*id),
            );
            continue;
        }
        let [to_server, to_client] = &connection.ways;
        let input = |wanted: bool| if wanted { libc::POLLIN } else { 0 };
        let output = |wanted: bool| if wanted { libc::POLLOUT } else { 0 };
        add(
            connection.client.as_raw_fd(),
            input(to_server.wants_bytes()) | output(to_client.blocked && !to_client.faults.frozen),
            Owner::Client(*id),
        );
        add(
            connection.server.as_raw_fd(),
            input(to_client.wants_bytes()) | output(to_server.blocked && !to_server.faults.frozen),
            Owner::Server(*id),
        );
        for way in &connection.ways {
            way.next_due().into_iter().for_each(&mut at);
        }
    }
    let timeout = due.map_or(-1, |due| {
        let left = due.saturating_duration_since(Instant::now());
        // Rounded up, or the last millisecond would be spent spinning.
        i32::try_from(left.as_micros().div_ceil(1_000)).unwrap_or(i32::MAX)
    });
    (fds, owners, timeout)
}

fn poll(fds: &mut [libc::pollfd], timeout: i32) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of one slice.
    let count = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout) };
    if count >= 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted {
        return Ok(());
    }
    Err(error)
}
