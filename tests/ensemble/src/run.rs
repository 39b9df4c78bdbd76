//! `ensemble run`: starts, says so in one line, obeys until the end.

use std::io::{self, BufReader, Write};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use serde_json::json;
use zoolock_ensemble::control::{Control, Next};
use zoolock_ensemble::{Ensemble, Error, Result};

use crate::arguments::Run;

/// Why `run` ends or goes on.
enum Event {
    Started(Box<Result<Ensemble>>),
    End,
}

pub(crate) fn run(run: Run) -> Result<ExitCode> {
    let (events, inbox) = channel();
    watch_signals(events.clone());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, run.control_port))
        .map_err(|error| Error::new(format!("control port {}: {error}", run.control_port)))?;
    let control_address = listener
        .local_addr()
        .map_err(|error| Error::new(format!("control port: {error}")))?;
    // On a thread of its own, so that a signal ends the program while servers are starting.
    let starting = events.clone();
    let builder = run.builder;
    thread::spawn(move || starting.send(Event::Started(Box::new(builder.start()))));
    let Ok(Event::Started(ensemble)) = inbox.recv() else {
        // The servers die with this process, and their directory goes with the next ensemble.
        return Err(Error::new("ended by a signal before the servers were up"));
    };
    let ensemble = Arc::new((*ensemble)?);
    let control = Arc::new(Control::new(ensemble.clone()));
    accept(listener, control.clone(), events.clone());
    let description = description(&ensemble, control_address)?;
    writeln!(io::stdout(), "{description}")
        .map_err(|error| Error::new(format!("standard output: {error}")))?;
    if !run.ignore_stdin {
        thread::spawn(move || {
            control.serve(io::stdin().lock(), io::stdout());
            // The end of standard input ends the program, as `quit` does.
            let _ = events.send(Event::End);
        });
    }
    let _ = inbox.recv();
    ensemble.shut_down();
    Ok(ExitCode::SUCCESS)
}

fn description(ensemble: &Ensemble, control: SocketAddr) -> Result<serde_json::Value> {
    let server = |number: usize| {
        Ok(json!({
            "number": number,
            "host": ensemble.host(number)?,
            "direct": ensemble.direct_address(number)?.to_string(),
            "pid": ensemble.pid(number)?,
            "log": ensemble.log_file(number)?,
        }))
    };
    let servers = (1..=ensemble.size())
        .map(server)
        .collect::<Result<Vec<_>>>()?;
    Ok(json!({
        "hosts": ensemble.hosts(),
        "direct": ensemble.direct(),
        "control": control.to_string(),
        "version": ensemble.version(),
        "dir": ensemble.dir(),
        "servers": servers,
    }))
}

fn accept(listener: TcpListener, control: Arc<Control>, events: Sender<Event>) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (control, events) = (control.clone(), events.clone());
            thread::spawn(move || serve(&control, &stream, &events));
        }
    });
}

fn serve(control: &Control, stream: &TcpStream, events: &Sender<Event>) {
    if control.serve(BufReader::new(stream), stream) == Next::Quit {
        let _ = events.send(Event::End);
    }
}

/// Turns SIGTERM, SIGINT and SIGHUP into the end. To be called before other threads start: they inherit the mask.
fn watch_signals(events: Sender<Event>) {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the set that the other calls use.
    let set = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        set.assume_init()
    };
    thread::spawn(move || {
        let mut signal = 0;
        // SAFETY: both pointers are valid for the call.
        unsafe { libc::sigwait(&raw const set, &raw mut signal) };
        let _ = events.send(Event::End);
    });
}
