#!/usr/bin/env bash
# Builds what the demo and the benchmark run, in every language; quick when nothing has changed.
set -euo pipefail
. "$(dirname "$0")/env.sh"

scripts/tools.sh
cargo build --release -p zoolock-ensemble -p zoolock-c -p zoolock-demo -p zoolock-bench

# C: linked to the shared library where it was built.
compile() { # OUTPUT SOURCE
    cc -std=c11 -O2 -Wall -Wextra -Werror -Iinclude -o "$1" "$2" -L"$TARGET/release" -lzoolock -Wl,-rpath,"$TARGET/release"
}
compile "$TARGET/release/demo-worker-c" tests/demo/workers/worker.c
compile "$TARGET/release/bench-c" tests/bench/programs/cycle.c

# Python: the wheel, in py/.venv. The file finds its own place by the name that it was run under.
sh -c '. "$0"' py/env.sh

# Node: the package in its own folder, found from the programs by its name.
(cd node && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund; } && npm run --silent build) >&2
for programs in tests/demo/workers tests/bench/programs; do
    mkdir -p "$programs/node_modules"
    ln -sfn ../../../../node "$programs/node_modules/zoolock"
done
