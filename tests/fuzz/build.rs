//! Opens the core's insides to the targets, in this crate alone: in `RUSTFLAGS` the switch would build everything anew.

fn main() {
    println!("cargo::rustc-cfg=zoolock_fuzz");
    // The core has this feature, and this crate has no need of it.
    println!("cargo::rustc-check-cfg=cfg(feature, values(\"testing\"))");
    println!("cargo::rerun-if-changed=build.rs");
}
