#!/usr/bin/env bash
# `make test`: every suite, collected in one report, then which rules of the contract were shown. All suites run even
# when one fails.
set -uo pipefail
. "$(dirname "$0")/env.sh"

scripts/build.sh >&2 || exit 1
# The suites need not build these again.
export ZOOLOCK_ENSEMBLE=$TARGET/release/ensemble
export ZOOLOCK_C_LIB=$TARGET/release ZOOLOCK_PYTHON=$PYTHON ZOOLOCK_NODE=$ROOT/node
export ZOOLOCK_TEST_REPORT=$TARGET/test-report.txt
outputs=$TARGET/test-outputs
mkdir -p "$outputs"
: >"$ZOOLOCK_TEST_REPORT"

lines() { wc -l <"$ZOOLOCK_TEST_REPORT"; }

took() { echo "-- $1 took $((SECONDS - $2)) s"; }

suite() { # NAME COMMAND…: a script that reports its tests itself
    local name=$1 before status began=$SECONDS
    shift
    before=$(lines)
    echo "== $name"
    "$@" </dev/null | tee "$outputs/$name"
    status=${PIPESTATUS[0]}
    scripts/report.py check "$name" "$status" "$outputs/$name" "$ZOOLOCK_TEST_REPORT" "$before"
    took "$name" "$began"
}

# They mostly wait for servers: one more at a time than a machine of two cores would run.
export RUST_TEST_THREADS=3

crate() { # PACKAGE
    local name=$1 features=() before status began=$SECONDS
    if [ "$name" = zoolock ]; then features=(--features testing); fi
    before=$(lines)
    echo "== $name"
    cargo test --no-fail-fast -p "$name" "${features[@]}" </dev/null | tee "$outputs/$name"
    status=${PIPESTATUS[0]}
    scripts/report.py libtest "$name" "$outputs/$name" "$ZOOLOCK_TEST_REPORT"
    scripts/report.py check "$name" "$status" "$outputs/$name" "$ZOOLOCK_TEST_REPORT" "$before"
    took "$name" "$began"
}

# All of the workspace but those that have suites of their own; the bindings' libraries have no Rust tests.
crates() {
    cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
names = [package["name"] for package in json.load(sys.stdin)["packages"]]
print(*sorted(set(names) - {"zoolock-c", "zoolock-py", "zoolock-node", "zoolock-testserver", "zoolock-examples", "zoolock-one-build"}))'
}

# What the suites of Rust need is compiled while others wait for servers: at the lowest priority, so that nobody waits for
# it. What is wrong with it is seen when they are run.
compile_ahead() {
    local package features
    for package in $(crates); do
        features=()
        if [ "$package" = zoolock ]; then features=(--features testing); fi
        cargo test --quiet --no-run -p "$package" "${features[@]}"
    done
    cargo test --quiet --no-run -p zoolock-testserver
    cargo test --quiet --no-run --profile simulation -p zoolock --lib
    cargo build --quiet -p zoolock-examples
    cargo build --quiet -p zoolock --features testing --examples
}
compile_ahead </dev/null >"$outputs/compiled-ahead" 2>&1 &
ahead=$!
trap 'kill "$ahead" 2>/dev/null' EXIT
renice -n 19 -p "$ahead" >/dev/null

# Runs both functions, of which each calls suites, at the same time: suites mostly wait, for servers and for time-outs.
beside() { # FUNCTION FUNCTION
    local report=$ZOOLOCK_TEST_REPORT other=$TARGET/test-report-$2.txt
    : >"$other"
    (
        ZOOLOCK_TEST_REPORT=$other
        "$2"
    ) >"$outputs/beside-$2" 2>&1 &
    local second=$!
    "$1"
    wait "$second" || echo "FAIL $2 (it ended with status $?)" >>"$report"
    cat "$outputs/beside-$2"
    cat "$other" >>"$report"
}

native() {
    suite c ffi-c/test.sh
    suite cpp ffi-c/test-cpp.sh
    suite abi ffi-c/test-abi.sh
    suite install ffi-c/test-install.sh
}

# They install wheel and addon anew, which the later suites use.
packaged() {
    suite python py/test.sh
    suite node node/test.sh
    suite node-versions node/test-versions.sh
    # For the next ones, while the others are still at it.
    cargo build --quiet --release -p zoolock-conformance -p zoolock-secured
}

rust() {
    local package
    for package in $(crates); do crate "$package"; done
}

documented() {
    suite testserver testserver/test.sh
    suite examples examples/test.sh
    suite docs docs/test.sh
}

conforming() { suite conformance tests/conformance/run.sh; }
secured() { suite secured tests/secured/run.sh; }

suite scripts python3 scripts/report_test.py
suite bench python3 tests/bench/tables_test.py
beside native packaged
beside conforming secured
wait "$ahead"
beside rust documented
suite simulation scripts/simulate.sh SEEDS=1500
suite torture scripts/torture.sh --short

echo
exec scripts/report.py table "$ZOOLOCK_TEST_REPORT"
