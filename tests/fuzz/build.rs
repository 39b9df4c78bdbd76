//! Opens the core's insides to the targets, in this crate alone: in `RUSTFLAGS` the switch would build everything anew.

fn main() {
    println!("cargo::rustc-cfg=zoolock_fuzz");
    println!("cargo::rerun-if-changed=build.rs");
}
