# Sourced by dist.sh. Python's source distribution, with the crates that it is built from.
# shellcheck shell=bash
rm -f "$DIST/zoolock-$VERSION.tar.gz"
maturin sdist --manifest-path py/Cargo.toml --out "$DIST" >&2
