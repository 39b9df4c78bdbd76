//! Finds a ZooKeeper to run: its jars, and our two Java programs compiled against them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Context, Error, Result};
use crate::{flock, java};

/// The version tests run against unless they say otherwise.
pub const DEFAULT_VERSION: &str = "3.9.5";

const POM: &str = include_str!("../pom.xml");
const DEBIAN_JARS: &str = "/usr/share/java";

/// A ZooKeeper that can be started.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Its version as its jar's name has it, for example `3.9.5`.
    pub version: String,
    /// Its jars, and the directory of its logging configuration where it has one.
    pub jars: Vec<PathBuf>,
    /// The directory with our compiled Java programs.
    pub(crate) tools: PathBuf,
}

impl Distribution {
    /// The class path with everything on it, as `java -cp` takes it.
    pub fn class_path(&self) -> String {
        let mut paths = vec![self.tools.as_path()];
        paths.extend(self.jars.iter().map(PathBuf::as_path));
        java::class_path(paths)
    }

    fn with_tools(jars: Vec<PathBuf>) -> Result<Self> {
        let version = version_of(&jars).unwrap_or_else(|| "unknown".into());
        let tools = java::compile_tools(&cache_dir()?, &jars)?;
        Ok(Distribution {
            version,
            jars,
            tools,
        })
    }
}

/// The default ZooKeeper: `ZOOKEEPER_HOME` where that is set, else [`DEFAULT_VERSION`] from the cache, which is filled
/// by Maven on first use, else Debian's package.
///
/// Safe to call from several processes at once.
pub fn locate() -> Result<Distribution> {
    if let Some(home) = env::var_os("ZOOKEEPER_HOME") {
        let home = PathBuf::from(home);
        let mut jars = jars_in(&home);
        jars.extend(jars_in(&home.join("lib")));
        // Its logging configuration.
        jars.extend(Some(home.join("conf")).filter(|conf| conf.is_dir()));
        if version_of(&jars).is_none() {
            return Err(Error::new(format!(
                "ZOOKEEPER_HOME is {}, but neither it nor its lib holds a zookeeper-<version>.jar",
                home.display()
            )));
        }
        return Distribution::with_tools(jars);
    }
    match from_maven(DEFAULT_VERSION) {
        Ok(found) => Ok(found),
        Err(maven) => debian().map_err(|debian| {
            Error::new(format!(
                "no ZooKeeper to run. {maven}. {debian}. Set ZOOKEEPER_HOME to an unpacked ZooKeeper"
            ))
        }),
    }
}

/// A given version, for example `3.4.14`, from the cache or from Maven; `debian` is that of Debian's package.
pub fn locate_version(version: &str) -> Result<Distribution> {
    match version {
        "debian" => debian(),
        version => from_maven(version),
    }
}

fn from_maven(version: &str) -> Result<Distribution> {
    let valid = version.starts_with(|c: char| c.is_ascii_digit())
        && version
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    if !valid {
        return Err(Error::new(format!(
            "`{version}` is no ZooKeeper version such as 3.9.5"
        )));
    }
    let cache = cache_dir()?;
    let dir = cache.join(format!("zookeeper-{version}"));
    if !dir.is_dir() {
        let lock_file = cache.join(format!("zookeeper-{version}.lock"));
        let _lock =
            flock::lock(&lock_file).context(|| format!("cannot lock {}", lock_file.display()))?;
        // Another process may have fetched it while this one waited for the lock.
        if !dir.is_dir() {
            fetch(version, &cache, &dir)?;
        }
    }
    Distribution::with_tools(jars_in(&dir))
}

/// Copies the jars into a directory of its own first, so that `dir` is there complete or not at all.
fn fetch(version: &str, cache: &Path, dir: &Path) -> Result<()> {
    let partial = cache.join(format!("zookeeper-{version}.partial"));
    let _ = fs::remove_dir_all(&partial);
    let jars = partial.join("jars");
    fs::create_dir_all(&jars).context(|| format!("cannot create {}", jars.display()))?;
    let pom = partial.join("pom.xml");
    fs::write(&pom, POM).context(|| format!("cannot write {}", pom.display()))?;
    // Up to 3.8 servers come with slf4j 1.7, and each of its versions wants its own binding.
    let minor = version
        .split('.')
        .nth(1)
        .and_then(|minor| minor.parse().ok());
    let old = minor.is_some_and(|minor: u32| minor <= 8);
    let slf4j = if old { "1.7.36" } else { "2.0.13" };
    let output = Command::new("mvn")
        .args([
            "-q",
            "-B",
            "-Dstyle.color=never",
            "dependency:copy-dependencies",
        ])
        .arg("-DincludeScope=runtime")
        .arg(format!("-Dzookeeper.version={version}"))
        .arg(format!("-Dslf4j.version={slf4j}"))
        .arg(format!("-DoutputDirectory={}", jars.display()))
        .arg("-f")
        .arg(&pom)
        .output()
        .context(|| "cannot run Maven (mvn)".into())?;
    if !output.status.success() {
        return Err(Error::new(format!(
            "Maven could not fetch ZooKeeper {version}: {}",
            first_error(&output.stdout, &output.stderr)
        )));
    }
    fs::rename(&jars, dir).context(|| format!("cannot create {}", dir.display()))?;
    let _ = fs::remove_dir_all(&partial);
    Ok(())
}

fn first_error(stdout: &[u8], stderr: &[u8]) -> String {
    let all = [stdout, stderr].concat();
    let text = String::from_utf8_lossy(&all);
    let line = text.lines().find(|line| line.contains("ERROR"));
    line.or(text.lines().next())
        .unwrap_or("it said nothing")
        .trim()
        .to_owned()
}

/// Debian's package, installed first where we may.
fn debian() -> Result<Distribution> {
    let jar = Path::new(DEBIAN_JARS).join("zookeeper.jar");
    if !jar.is_file() {
        // SAFETY: geteuid has no preconditions and cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            return Err(Error::new(
                "Debian's package `zookeeper` is not installed, and only root may install it",
            ));
        }
        let install = ["install", "-y", "--no-install-recommends", "zookeeper"];
        // A fresh machine has no lists of packages yet.
        if !apt_get(&install)? && apt_get(&["update"])? {
            apt_get(&install)?;
        }
        if !jar.is_file() {
            return Err(Error::new("apt-get could not install `zookeeper`"));
        }
    }
    let wanted = [
        "zookeeper",
        "jute",
        "slf4j-api",
        "slf4j-simple",
        "netty",
        "commons-io",
        "metrics-core",
        "snappy",
        "audience-annotations",
    ];
    let jars = jars_in(Path::new(DEBIAN_JARS))
        .into_iter()
        .filter(|jar| {
            let name = jar.file_name().unwrap_or_default().to_string_lossy();
            wanted.iter().any(|prefix| name.starts_with(prefix))
        })
        .collect();
    Distribution::with_tools(jars)
}

/// Whether it did what it was told; what went wrong it says itself.
fn apt_get(arguments: &[&str]) -> Result<bool> {
    let status = Command::new("apt-get")
        .args(["-qq", "-o", "Acquire::http::Timeout=20"])
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(std::process::Stdio::null())
        .status()
        .context(|| "cannot run apt-get".into())?;
    Ok(status.success())
}

fn jars_in(dir: &Path) -> Vec<PathBuf> {
    let mut jars: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jar"))
        .collect();
    jars.sort();
    jars
}

fn version_of(jars: &[PathBuf]) -> Option<String> {
    jars.iter().find_map(|jar| {
        let name = jar.file_stem()?.to_str()?;
        let version = name.strip_prefix("zookeeper-")?;
        version
            .starts_with(|c: char| c.is_ascii_digit())
            .then(|| version.to_owned())
    })
}

/// Where jars and compiled programs are kept between runs.
fn cache_dir() -> Result<PathBuf> {
    let base = env::var_os("XDG_CACHE_HOME")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .unwrap_or_else(env::temp_dir);
    let dir = base.join("zoolock-tests");
    fs::create_dir_all(&dir).context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}
