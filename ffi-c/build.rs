//! How the shared library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // Programs find it by its name, not by the path it was linked from.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libzoolock.so");
        // It has threads: unloading the code under them would crash.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
