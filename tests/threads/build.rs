//! Exchanges the core's primitives for loom's, in this crate alone: in `RUSTFLAGS` the switch would build everything
//! anew.

fn main() {
    println!("cargo::rustc-cfg=zoolock_loom");
    println!("cargo::rerun-if-changed=build.rs");
}
