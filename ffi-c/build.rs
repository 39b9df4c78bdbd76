//! How the shared library is linked.

use std::path::Path;

/// The number in the shared library's name for the loader. Rises when a program that was linked
/// against the library before could no longer run with it (`abi.sh` says when).
const SOVERSION: u32 = 0;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        let soname = format!("libzoolock.so.{SOVERSION}");
        // Programs find it by its name, not by the path it was linked from.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{soname}");
        // It has threads: unloading the code under them would crash.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        name_beside_the_library(&soname);
    }
}

/// Cargo writes `libzoolock.so` only; programs linked with it where it was built ask for its soname.
fn name_beside_the_library(soname: &str) {
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    // <profile>/build/<package>/out
    let Some(profile) = Path::new(&out).ancestors().nth(3) else {
        return;
    };
    let link = profile.join(soname);
    let made = match std::fs::read_link(&link) {
        Ok(target) if target == Path::new("libzoolock.so") => Ok(()),
        Ok(_) => std::fs::remove_file(&link).and_then(|()| symlink(&link)),
        Err(_) => symlink(&link),
    };
    if let Err(error) = made {
        println!("cargo::warning=cannot link {}: {error}", link.display());
    }
}

#[cfg(unix)]
fn symlink(link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink("libzoolock.so", link)
}

#[cfg(not(unix))]
fn symlink(_: &Path) -> std::io::Result<()> {
    Ok(())
}
