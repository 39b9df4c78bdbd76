#!/usr/bin/env bash
# Builds what the demo, the benchmark and the torture run, in every language; quick when nothing has changed. With --without-java all
# but what starting a real ZooKeeper server needs, the benchmark and the torture.
set -euo pipefail
. "$(dirname "$0")/env.sh"

scripts/tools.sh "$@"
if [ "${1-}" = --without-java ]; then
    cargo build --release -p zoolock-c -p zoolock-demo
else
    cargo build --release -p zoolock-ensemble -p zoolock-c -p zoolock-demo -p zoolock-bench -p zoolock-torture
    "$TARGET/release/ensemble" setup
fi

# C: linked to the shared library where it was built.
compile() { # OUTPUT SOURCE [OPTION…]
    local output=$1
    shift
    cc -std=c11 -O2 -Wall -Wextra -Werror -Iinclude -o "$output" "$@" -L"$TARGET/release" -lzoolock \
        -Wl,-rpath,"$TARGET/release"
}
compile "$TARGET/release/demo-worker-c" tests/demo/workers/worker.c
compile "$TARGET/release/bench-c" tests/bench/programs/zoolock.c -pthread
compile "$TARGET/release/torture-worker-c" tests/torture/workers/worker.c -pthread

# Wheel and addon are packed by tools that start from scratch each time, so only when something is newer.
stale() { # STAMP SOURCE…
    local stamp=$1
    shift
    [ ! -e "$stamp" ] || [ -n "$(find "$@" -type f -newer "$stamp" -not -path '*/__pycache__/*' -print -quit)" ]
}
shared=(Cargo.toml Cargo.lock {core,testserver}/{Cargo.toml,src})

# Python: the wheel, in py/.venv. The file finds its own place by the name that it was run under.
if stale "$VENV/built" "${shared[@]}" py/{env.sh,Cargo.toml,pyproject.toml,src,python,tests/requirements.txt}; then
    # shellcheck disable=SC2016
    sh -c '. "$0"' py/env.sh
    touch "$VENV/built"
fi

# Node: the addon, in the package's own folder, which the programs find by the package's name.
if stale node/node_modules/.package-lock.json node/package-lock.json; then
    (cd node && npm ci --no-audit --no-fund)
fi
addons=(node/*.node)
if stale "${addons[0]}" "${shared[@]}" node/{Cargo.toml,build.rs,package.json,src}; then
    (cd node && npm run --silent build)
fi
for programs in tests/demo/workers tests/bench/programs tests/torture/workers; do
    mkdir -p "$programs/node_modules"
    ln -sfn ../../../../node "$programs/node_modules/zoolock"
done
