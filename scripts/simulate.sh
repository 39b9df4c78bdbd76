#!/usr/bin/env bash
# `make simulate`: plays schedules of whole clusters on a simulated network and clock, then breaks rules on purpose to
# see that the checks notice. Arguments: SEEDS=n for so many schedules, MUTANTS=n for so many with each broken rule,
# SEED=n for one with all that happens in it.
set -uo pipefail
. "$(dirname "$0")/env.sh"

output=$TARGET/simulation.txt
mkdir -p "$TARGET"
for argument in "$@"; do
    case $argument in
    SEED=?*) export ZOOLOCK_SIMULATION_SEED=${argument#*=} ;;
    SEEDS=?*) export ZOOLOCK_SIMULATION_SEEDS=${argument#*=} ;;
    MUTANTS=?*) export ZOOLOCK_SIMULATION_MUTANT_SEEDS=${argument#*=} ;;
    *=) ;;
    *)
        echo "unknown argument: $argument" >&2
        exit 2
        ;;
    esac
done

cargo test --profile simulation -p zoolock --lib simulation::simulate -- --ignored --exact --nocapture </dev/null |
    tee "$output" | grep -v '^\(ok\|FAIL\) \(r[0-9]\|mutant_\)\|^running 1 test\|^test \|^$'
status=${PIPESTATUS[0]}

# A line for each family of schedules and each mutant.
lines() { grep "^$1 \(r[0-9]\|mutant_\)" "$output"; }
passed=$(lines ok | wc -l)
failed=$(lines FAIL | wc -l)
if [ -n "${ZOOLOCK_SIMULATION_SEED:-}" ]; then
    if [ "$status" = 0 ]; then passed=1; else failed=1; fi
elif [ "$status" != 0 ] && [ "$failed" = 0 ]; then
    # It ended in another way than by a failed check.
    failed=1
    echo "FAIL (it ended with status $status)" >>"$output"
fi
if [ -n "${ZOOLOCK_TEST_REPORT:-}" ]; then
    grep '^\(ok\|FAIL\) \(r[0-9]\|mutant_\|(\)' "$output" | sed 's/ / simulation /' >>"$ZOOLOCK_TEST_REPORT"
fi
echo "$passed passed, $failed failed"
[ "$status" = 0 ] && [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
