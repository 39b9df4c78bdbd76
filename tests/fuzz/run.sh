#!/usr/bin/env bash
# `make fuzz`: libFuzzer on one target, or on all of them, for TIME seconds each. Works on a stable compiler: the flags
# for coverage are stable, and without unsafe code in what is fuzzed no sanitizer is needed.
#
#   tests/fuzz/run.sh TIME [TARGET [LIBFUZZER'S ARGUMENT…]]
#
# What was found to be new is kept in the target folder; an input that fails is put into tests/fuzz/failures, where the
# message says how to repeat it.
set -euo pipefail
. "$(dirname "$0")/../../scripts/env.sh"
seconds=${1:?TIME in seconds}
only=${2:-}
shift $(($# < 2 ? $# : 2))

host=$(rustc -vV | sed -n 's/^host: //p')
coverage=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions=on -Coverflow-checks=on)
built=$TARGET/fuzz
# With --target the flags are not for build scripts and macros, which have no libFuzzer to call.
CARGO_PROFILE_RELEASE_LTO=off RUSTFLAGS="${coverage[*]}" cargo build --release --target-dir "$built" --target "$host" \
    -p zoolock-fuzz --features libfuzzer --bin fuzz >&2
program=$built/$host/release/fuzz

passed=0 failed=0
for seeds in tests/fuzz/corpus/*/; do
    target=$(basename "$seeds")
    if [ -n "$only" ] && [ "$only" != "$target" ]; then continue; fi
    mkdir -p "$built/corpus/$target" tests/fuzz/failures
    log=$built/$target.log
    echo "== $target"
    if ZOOLOCK_FUZZ_TARGET=$target "$program" "$built/corpus/$target" "$seeds" -max_total_time="$seconds" \
        -max_len=4096 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="tests/fuzz/failures/$target-" "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        tail -n 40 "$log"
        echo "FAIL $target: ZOOLOCK_FUZZ_TARGET=$target $program tests/fuzz/failures/$target-… repeats it"
    fi
    sed -nE 's/^stat::(number_of_executed_units|average_exec_per_sec|new_units_added|peak_rss_mb): */\1 /p' "$log"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
