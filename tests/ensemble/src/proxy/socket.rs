//! What std's sockets cannot do: connect without blocking, close with a reset, stop listening at once.

use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd};

/// Begins to connect; the stream is writable when the outcome is known.
///
/// A stopped server's full backlog would block a plain `connect`, and with it every link of the proxy.
pub(crate) fn connect(address: SocketAddrV4) -> io::Result<TcpStream> {
    let flags = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: plain system calls; the descriptor is owned by the stream from here on.
    let stream = unsafe {
        let fd = libc::socket(libc::AF_INET, flags, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        TcpStream::from_raw_fd(fd)
    };
    let raw = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address.ip().octets()),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: `raw` is a valid socket address of the length given.
    let outcome = unsafe {
        libc::connect(
            stream.as_raw_fd(),
            (&raw const raw).cast(),
            size_of::<libc::sockaddr_in>() as libc::socklen_t,
        )
    };
    let error = io::Error::last_os_error();
    if outcome != 0 && error.raw_os_error() != Some(libc::EINPROGRESS) {
        return Err(error);
    }
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Closes with RST instead of FIN.
pub(crate) fn reset(stream: TcpStream) {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: `linger` is a valid option value of the length given. Failure leaves a plain close, which is all we could do.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        );
    }
    drop(stream);
}

/// Refuses connections from now on. Closing alone does so only when no other thread is polling the listener any more.
pub(crate) fn stop_listening(listener: &TcpListener) {
    // SAFETY: the descriptor is open. A listener that cannot be shut down will be closed all the same.
    unsafe {
        libc::shutdown(listener.as_raw_fd(), libc::SHUT_RDWR);
    }
}
