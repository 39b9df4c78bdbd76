#!/bin/sh
# Makes include/zoolock.h from the crate. With --check, compares instead.
set -eu

version=0.29.4
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
header=$root/include/zoolock.h
tools=${CARGO_TARGET_DIR:-$root/target}/tools

if [ "$("$tools/bin/cbindgen" --version 2>/dev/null)" != "cbindgen $version" ]; then
    # Unoptimised: it runs for a moment, and is compiled for long.
    cargo install --locked --quiet --debug --version "$version" --root "$tools" cbindgen
fi

generate() {
    "$tools/bin/cbindgen" --quiet --config "$here/cbindgen.toml" --crate zoolock-c --output "$1" "$here"
}

case ${1-} in
'')
    mkdir -p "$root/include"
    generate "$header"
    ;;
--check)
    fresh=$(mktemp)
    trap 'rm -f "$fresh"' EXIT
    generate "$fresh"
    if ! diff -u "$header" "$fresh"; then
        echo "include/zoolock.h is stale: run ffi-c/generate-header.sh" >&2
        exit 1
    fi
    ;;
*)
    echo "usage: generate-header.sh [--check]" >&2
    exit 2
    ;;
esac
