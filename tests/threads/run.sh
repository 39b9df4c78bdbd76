#!/usr/bin/env bash
# `make threads`: every model of the hand-offs between threads; ends in `N passed, N failed`. Arguments are the test
# program's own, such as part of a model's name.
set -uo pipefail
. "$(dirname "$0")/../../scripts/env.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
cargo test -p zoolock-threads --test models -- "$@" </dev/null | tee "$output"
status=${PIPESTATUS[0]}
result=$(sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed;.*/\1 passed, \2 failed/p' "$output")
if [ -n "${ZOOLOCK_TEST_REPORT:-}" ]; then
    sed -nE 's/^test (.*[^ ]) +\.\.\. ok$/ok threads \1/p; s/^test (.*[^ ]) +\.\.\. FAILED$/FAIL threads \1/p' \
        "$output" >>"$ZOOLOCK_TEST_REPORT"
fi
echo "${result:-0 passed, 1 failed}"
[ "$status" = 0 ] && [ -n "$result" ] && [ "${result%% *}" != 0 ]
