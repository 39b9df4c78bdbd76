//! The program `ensemble`.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use common::wait;
use serde_json::Value;

struct Program {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    ready: Value,
}

impl Program {
    fn start(arguments: &[&str]) -> Program {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ensemble"))
            .arg("run")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start");
        let stdin = child.stdin.take().expect("stdin");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let ready = line(&mut stdout);
        Program {
            child,
            stdin,
            stdout,
            ready,
        }
    }

    fn ask(&mut self, command: &str) -> Value {
        writeln!(self.stdin, "{command}").expect("send");
        line(&mut self.stdout)
    }

    fn ctl(&self, command: &str) -> (bool, Value) {
        let output = Command::new(env!("CARGO_BIN_EXE_ensemble"))
            .arg("ctl")
            .arg(self.ready["control"].as_str().expect("control"))
            .args(command.split(' '))
            .output()
            .expect("ctl");
        let answer = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.success(), answer)
    }

    fn server_is_alive(&self) -> bool {
        let process = format!("/proc/{}/stat", self.ready["servers"][0]["pid"]);
        // A zombie is dead; it may wait for whoever adopted it.
        std::fs::read_to_string(process).is_ok_and(|stat| !stat.contains(") Z"))
    }

    fn dir_exists(&self) -> bool {
        Path::new(self.ready["dir"].as_str().expect("dir")).exists()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line(stdout: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    stdout.read_line(&mut line).expect("line");
    serde_json::from_str(&line).expect("JSON")
}

#[test]
fn it_obeys_on_both_channels_and_ends_with_its_input() {
    let mut program = Program::start(&["--snapshot", "/full=41"]);
    assert!(program.ready["version"].is_string(), "{}", program.ready);
    assert_eq!(program.ask("roles")["roles"]["1"], "standalone");
    let created = program.ask("create /full/n- data ephemeral-sequential");
    assert_eq!(created["path"], "/full/n-0000000041", "{created}");
    let got = program.ask("get /full/n-0000000041");
    assert_eq!(got["data"], "data", "{got}");
    assert_eq!(program.ask("children /full")["children"][0], "n-0000000041");
    let owner = got["stat"]["ephemeral_owner"]
        .as_str()
        .expect("owner")
        .to_owned();
    assert_eq!(program.ask(&format!("expire {owner}"))["ok"], true);
    assert_eq!(program.ask("exists /full/n-0000000041")["exists"], false);

    let host = program.ready["hosts"].as_str().expect("hosts").to_owned();
    let mut client = common::Client::connect(&host, 10_000).expect("connect");
    assert!(program.ctl("cut client 1 after reply create2 1").0);
    assert!(program.ctl("log clear").0);
    client.create("/cut").expect("reply");
    assert!(client.receive().is_err());
    assert_eq!(program.ctl("cut-fired 1").1["fired"], true);
    assert_eq!(program.ctl("counts").1["counts"]["create2"], 1);
    let log = program.ctl("log show create2").1;
    assert_eq!(log["log"][0]["path"], "/cut", "{log}");

    for wrong in [
        "kill 2",
        "cut client 1 sideways",
        "frobnicate",
        "freeze client",
        "get x",
        "roles now",
    ] {
        let (succeeded, answer) = program.ctl(wrong);
        assert!(
            !succeeded && answer["ok"] == false && answer["error"].is_string(),
            "{wrong}: {answer}"
        );
    }
    for command in [
        "freeze client 1 to-server new",
        "delay client all 5",
        "heal client 1",
        "kill 1",
        "restart 1",
        "wait",
        "stop 1",
    ] {
        let answer = program.ask(command);
        assert_eq!(answer["ok"], true, "{command}: {answer}");
    }
    // The end of its standard input.
    program.stdin = Command::new("true")
        .stdin(Stdio::piped())
        .spawn()
        .expect("true")
        .stdin
        .take()
        .expect("stdin");
    assert!(program.child.wait().expect("wait").success());
    assert!(!program.dir_exists());
}

#[test]
fn a_signal_ends_it_and_its_servers() {
    let mut program = Program::start(&["--no-proxy"]);
    assert!(program.server_is_alive());
    // SAFETY: our own child, not waited for yet.
    unsafe { libc::kill(program.child.id() as libc::pid_t, libc::SIGTERM) };
    assert!(program.child.wait().expect("wait").success());
    assert!(!program.server_is_alive() && !program.dir_exists());
}

#[test]
fn its_servers_do_not_survive_its_sudden_death() {
    let mut program = Program::start(&[]);
    assert!(program.server_is_alive());
    program.child.kill().expect("kill");
    program.child.wait().expect("wait");
    wait("the server dies", || !program.server_is_alive());
    let _ = std::fs::remove_dir_all(program.ready["dir"].as_str().expect("dir"));
}

#[test]
fn bad_arguments_are_refused_in_words() {
    for (arguments, word) in [
        (vec!["run", "--servers", "2"], "1 or 3"),
        (vec!["run", "--servers", "many"], "many"),
        (vec!["run", "--wrong"], "--wrong"),
        (vec!["run", "--snapshot", "x"], "--snapshot"),
        (vec!["setup", "--version", "../x"], "version"),
        (vec!["ctl"], "address"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_ensemble"))
            .args(&arguments)
            .output()
            .expect("run");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && text.contains(word),
            "{arguments:?}: {text}"
        );
    }
}
