#!/bin/sh
# Runs all tests of the test server, and ends with `N passed, N failed`.
set -u
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
cargo test -p zoolock-testserver --no-fail-fast >"$out" 2>&1
status=$?
cat "$out"
awk -v report="${ZOOLOCK_TEST_REPORT:-}" '
    /^test .* \.\.\. ok$/ || / - .* \.\.\. ok$/ { passed++; result = "ok" }
    /^test .* \.\.\. FAILED$/ { failed++; result = "FAIL" }
    result != "" {
        sub(/^test /, ""); sub(/ \.\.\. [a-zA-Z]+$/, "")
        if (report != "") print result " testserver " $0 >> report
        result = ""
    }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }
' "$out"
counted=$?
[ "$status" -eq 0 ] && [ "$counted" -eq 0 ]
