//! Gets the other libraries from their registries, once, into the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const KAZOO: &str = "kazoo==2.11.0";

/// The folder `name`, filled by `fill` if it is not there. A folder that could not be filled is not kept.
fn folder(name: &str, fill: impl FnOnce(&Path)) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let done = root.join(name).join("complete");
    if !done.exists() {
        let folder = root.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("an incomplete folder goes");
        }
        fs::create_dir_all(&folder).expect("the target folder can be written");
        fill(&folder);
        fs::write(&done, "").expect("the target folder can be written");
    }
    root.join(name)
}

fn run(command: &mut Command) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("it is installed");
    assert!(
        status.success(),
        "{command:?}: {status}\n{}{}",
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr)
    );
}

/// A Python that has kazoo.
pub fn python() -> PathBuf {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    let python = PYTHON.get_or_init(|| {
        let name = KAZOO.replace("==", "-");
        let folder = folder(&name, |folder| {
            run(Command::new("python3").args(["-m", "venv"]).arg(folder));
            let pip = folder.join("bin/pip");
            run(Command::new(pip).args(["install", "--quiet", KAZOO]));
        });
        folder.join("bin/python")
    });
    python.clone()
}

/// A class path with Curator, ZooKeeper, and ZooKeeper's command line.
pub fn class_path() -> String {
    static CLASS_PATH: OnceLock<String> = OnceLock::new();
    let class_path = CLASS_PATH.get_or_init(|| {
        let pom = source("pom.xml");
        let folder = folder("peers-curator-5.9.0", |folder| {
            let mut maven = Command::new("mvn");
            maven
                .args(["-q", "-B", "dependency:copy-dependencies"])
                .arg("-DincludeScope=runtime")
                .arg(format!("-DoutputDirectory={}", folder.display()))
                .arg("-f")
                .arg(&pom);
            run(&mut maven);
        });
        let zookeeper = zoolock_ensemble::jars::locate().expect("ZooKeeper's jars");
        format!("{}:{}/*", zookeeper.class_path(), folder.display())
    });
    class_path.clone()
}

/// A file beside this one.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peers")
        .join(name)
}
