#!/bin/sh
# Runs all tests of the test server, and ends with `N passed, N failed`. With ZooKeeper 3.8.0, Debian's package, the model
# is compared where that one is there or can be installed; elsewhere these tests are told as skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
cargo test -p zoolock-testserver --no-fail-fast >"$out" 2>&1
status=$?
cat "$out"
ensemble() {
    if [ -n "${ZOOLOCK_ENSEMBLE:-}" ]; then "$ZOOLOCK_ENSEMBLE" "$@"; else cargo run -q --release -p zoolock-ensemble -- "$@"; fi
}
skipped=0
case $(ensemble setup --version debian) in
3.8.*)
    old=$(mktemp) || exit 1
    ZOOLOCK_COMPARE_SECONDS=${ZOOLOCK_COMPARE_SECONDS:-5} \
        cargo test -p zoolock-testserver --no-fail-fast --test compare -- --ignored >"$old" 2>&1 || status=1
    tee -a "$out" <"$old"
    rm -f "$old"
    ;;
*)
    skipped=$(grep -c '^test .* \.\.\. ignored' "$out")
    echo "skipped: $skipped tests of the model against ZooKeeper 3.8.0, which cannot be had here"
    ;;
esac
awk -v report="${ZOOLOCK_TEST_REPORT:-}" -v skipped="$skipped" '
    /^test .* \.\.\. ok$/ || / - .* \.\.\. ok$/ { passed++; result = "ok" }
    /^test .* \.\.\. FAILED$/ { failed++; result = "FAIL" }
    result != "" {
        sub(/^test /, ""); sub(/ \.\.\. [a-zA-Z]+$/, "")
        if (report != "") print result " testserver " $0 >> report
        result = ""
    }
    END { printf "%d passed, %d failed%s\n", passed, failed, (skipped ? ", " skipped " skipped" : ""); exit failed > 0 || passed == 0 }
' "$out"
counted=$?
[ "$status" -eq 0 ] && [ "$counted" -eq 0 ]
