# Sourced by dist.sh. Rust: both crates, each of them built from its package, which cargo does in the order in which they
# have to be published. Without a network: all that they need was fetched.
# shellcheck shell=bash
rm -f "$DIST"/*.crate
# What is not committed is packed, too: publishing is what refuses it.
cargo package --quiet --offline --allow-dirty --package zoolock-testserver --package zoolock
cp "$BUILT/package/zoolock-testserver-$VERSION.crate" "$BUILT/package/zoolock-$VERSION.crate" "$DIST"
