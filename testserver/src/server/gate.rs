//! The port: open or closed, and which socket listens on it.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, Type};

/// As many clients may knock at once before the system refuses some.
const BACKLOG: i32 = 1024;

/// After a failure to accept, of which a lack of descriptors is the likely one, so long passes.
const RETRY: Duration = Duration::from_millis(50);

/// How long closing waits for the acceptor, where the system closes the port only with its socket.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Gate {
    address: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Keeps the port from other programs while it is closed. Only Linux allows a second socket beside a listening one.
    reserved: Option<Socket>,
    listener: Option<Arc<TcpListener>>,
    /// Whether the acceptor has the listener, or one before it.
    taken: bool,
    stopped: bool,
}

impl Gate {
    /// Open.
    pub(super) fn new(wanted: SocketAddr) -> io::Result<Self> {
        let (address, reserved, listener) = if cfg!(target_os = "linux") {
            let reserved = bind(wanted)?;
            let address = local_address(&reserved)?;
            (address, Some(reserved), listen(address)?)
        } else {
            let listener = listen(wanted)?;
            (listener.local_addr()?, None, listener)
        };
        Ok(Gate {
            address,
            state: Mutex::new(State {
                reserved,
                listener: Some(Arc::new(listener)),
                taken: false,
                stopped: false,
            }),
            changed: Condvar::new(),
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clients can connect when it returns.
    pub(super) fn open(&self) -> io::Result<()> {
        let mut state = self.lock();
        if state.listener.is_none() && !state.stopped {
            state.listener = Some(Arc::new(listen(self.address)?));
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Connecting is refused when it returns.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        let Some(listener) = state.listener.take() else {
            return;
        };
        self.changed.notify_all();
        // Also ends what a forked child has inherited.
        let shut = SockRef::from(&*listener).shutdown(Shutdown::Both).is_ok();
        drop(listener);
        if !shut {
            drop(state);
            // Makes the blocked accept return. If nobody listens any more, that is as well.
            let _woken = TcpStream::connect_timeout(&self.address, PATIENCE);
            let state = self.lock();
            let is_busy = |state: &mut State| state.taken && state.listener.is_none();
            let result = self.changed.wait_timeout_while(state, PATIENCE, is_busy);
            drop(result.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Closes it for good.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
        self.close();
        self.lock().reserved = None;
    }

    /// Blocks until a client has connected. `None` at the end.
    pub(super) fn accept(&self) -> Option<TcpStream> {
        loop {
            let listener = self.wait_for_listener()?;
            let accepted = listener.accept();
            if self.is_open(&listener) {
                match accepted {
                    Ok((socket, _)) => return Some(socket),
                    Err(_) => self.pause(),
                }
            }
        }
    }

    /// Lets some time pass, unless the gate changes before.
    pub(super) fn pause(&self) {
        let result = self.changed.wait_timeout(self.lock(), RETRY);
        drop(result.unwrap_or_else(PoisonError::into_inner));
    }

    fn wait_for_listener(&self) -> Option<Arc<TcpListener>> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            state.taken = state.listener.is_some();
            if let Some(listener) = &state.listener {
                return Some(listener.clone());
            }
            self.changed.notify_all();
            let result = self.changed.wait(state);
            state = result.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether this is still what listens: a connection that wakes the acceptor is no client.
    fn is_open(&self, listener: &Arc<TcpListener>) -> bool {
        let state = self.lock();
        let current = state.listener.as_ref();
        current.is_some_and(|current| Arc::ptr_eq(current, listener))
    }
}

fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // Connections that ended lately do not keep the port.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = bind(address)?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn local_address(socket: &Socket) -> io::Result<SocketAddr> {
    socket
        .local_addr()?
        .as_socket()
        .ok_or_else(|| io::ErrorKind::Unsupported.into())
}
