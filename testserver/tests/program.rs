//! The program `zoolock-testserver`.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use zookeeper::{WatchedEvent, ZooKeeper};

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoolock-testserver"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Whoever runs the tests in the background may have it ignored.
    interrupt(&mut command, libc::SIG_DFL);
    command
}

/// What SIGINT is to do in a program when it starts.
fn interrupt(command: &mut Command, action: libc::sighandler_t) {
    let set = move || {
        // SAFETY: neither action is a function.
        match unsafe { libc::signal(libc::SIGINT, action) } {
            libc::SIG_ERR => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: in the child it only makes a system call.
    unsafe { command.pre_exec(set) };
}

/// The program while it runs, and the rest of what it prints.
struct Running {
    child: Child,
    hosts: String,
    out: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut hosts = String::new();
        out.read_line(&mut hosts).unwrap();
        let hosts = hosts.strip_suffix('\n').expect("a line").to_owned();
        Running { child, hosts, out }
    }

    fn serves(&self) -> bool {
        let timeout = Duration::from_secs(5);
        let client = ZooKeeper::connect(&self.hosts, timeout, |_: WatchedEvent| {}).unwrap();
        let children = client.get_children("/", false).unwrap();
        client.close().unwrap();
        children == ["zookeeper"]
    }

    fn signal(&self, signal: libc::c_int) {
        let pid = libc::pid_t::try_from(self.child.id()).unwrap();
        // SAFETY: the child has not been waited for, so the number is its own.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }

    fn ends_well(mut self) {
        assert!(self.child.wait().unwrap().success());
        let mut more = String::new();
        self.out.read_line(&mut more).unwrap();
        assert_eq!(more, "", "nothing but the connect string");
    }
}

fn refused(arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = program(arguments).output().unwrap();
    assert!(!status.success());
    String::from_utf8(stderr).unwrap()
}

#[test]
fn it_says_where_it_listens_and_ends_at_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let running = Running::start(&mut program(&["--port", "0", "--tick-ms=100"]));
        assert!(running.hosts.starts_with("127.0.0.1:"));
        assert!(running.serves());
        running.signal(signal);
        running.ends_well();
    }
}

#[test]
fn a_signal_that_it_starts_with_ignored_does_not_end_it() {
    let mut command = program(&["--port", "0"]);
    interrupt(&mut command, libc::SIG_IGN);
    let running = Running::start(&mut command);
    running.signal(libc::SIGINT);
    assert!(running.serves());
    running.signal(libc::SIGTERM);
    running.ends_well();
}

#[test]
fn it_ends_with_its_standard_input_if_told_so() {
    let arguments = ["--address", "127.0.0.1", "--port=0", "--until-stdin-ends"];
    let mut running = Running::start(program(&arguments).stdin(Stdio::piped()));
    assert!(running.hosts.starts_with("127.0.0.1:"));
    assert!(running.serves());
    drop(running.child.stdin.take());
    running.ends_well();
}

#[test]
fn it_says_what_is_wrong_with_its_arguments() {
    let problems: [(&[&str], &str); 7] = [
        (&["--bort"], "unknown argument --bort"),
        (&["--help=1"], "unknown argument --help=1"),
        (&["--port"], "--port needs a port"),
        (&["--port", "65536"], "--port needs a port, not \"65536\""),
        (
            &["--address=localhost"],
            "--address needs an IP address, not \"localhost\"",
        ),
        (&["--tick-ms", "9"], "tick: 9ms is not between 10ms and 60s"),
        (
            &["--min-session-timeout-ms", "1"],
            "min_session_timeout: 1ms is not between 1s",
        ),
    ];
    for (arguments, problem) in problems {
        let said = refused(arguments);
        let expected = format!("zoolock-testserver: {problem}");
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn it_says_when_the_port_is_taken() {
    let running = Running::start(&mut program(&["--port", "0"]));
    let (_, port) = running.hosts.rsplit_once(':').unwrap();
    let said = refused(&["--port", port]);
    let expected = format!("zoolock-testserver: cannot listen on {}: ", running.hosts);
    assert!(said.starts_with(&expected), "{said}");
    running.signal(libc::SIGTERM);
    running.ends_well();
}

#[test]
fn it_explains_itself() {
    let Output { status, stdout, .. } = program(&["--help"]).output().unwrap();
    let said = String::from_utf8(stdout).unwrap();
    assert!(status.success());
    for part in [
        "DEVELOPMENT AND TESTS ONLY",
        "--port",
        "--address",
        "--tick-ms",
    ] {
        assert!(said.contains(part), "{said}");
    }
}
