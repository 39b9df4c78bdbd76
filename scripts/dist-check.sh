#!/usr/bin/env bash
# `make dist-check`: builds the artefacts, installs each into a clean place, and runs the READMEs' programs from there, on
# the embedded server and on a real one. Ends in what the artefacts weigh, and in `N passed, N failed`.
set -uo pipefail
. "$(dirname "$0")/dist-env.sh"

prepare() {
    scripts/tools.sh >&2 && scripts/debian.sh cmake cmake --version && scripts/debian.sh pkg-config pkg-config --version &&
        scripts/dist.sh &&
        CARGO_TARGET_DIR=$TARGET cargo build --quiet --release -p zoolock-ensemble >&2 &&
        "$TARGET/release/ensemble" setup >&2 &&
        (cd tests/packaging && npm ci --silent --no-audit --no-fund)
}
if ! prepare; then
    echo "FAIL the artefacts could not be built"
    echo "0 passed, 1 failed"
    exit 1
fi
tools
export ZOOLOCK_ENSEMBLE=$TARGET/release/ensemble
export ZOOLOCK_DIST=$DIST ZOOLOCK_VERSION=$VERSION ZOOLOCK_TARGET=$TARGET ZOOLOCK_BUILT=$BUILT ZOOLOCK_DIST_TOOLS=$TOOLS
outputs=$TARGET/dist-check
mkdir -p "$outputs"

# Two at a time, for the cores that there are: what a compiler runs for, and what is only installed. Compilers give way, since
# the tests of what is installed have times to keep.
run() { # NICENESS NAME FILE…
    local niceness=$1 name=$2
    shift 2
    (cd tests/packaging && exec nice -n "$niceness" pytest -p no:cacheprovider --basetemp="$outputs/tmp-$name" "$@") >"$outputs/$name" 2>&1 </dev/null
}
run 10 compiled test_sdist.py test_crates.py test_c.py test_versions.py test_npm.py &
compiled=$!
run 0 installed test_files.py test_wheel.py
statuses=("$?")
wait "$compiled"
statuses+=("$?")

passed=0 failed=0
for name in installed compiled; do
    cat "$outputs/$name"
    last=$(tail -n 1 "$outputs/$name")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
    else
        failed=$((failed + 1))
    fi
done
if [ "${statuses[*]}" != "0 0" ] && [ "$failed" = 0 ]; then failed=1; fi
echo
python tests/packaging/figures.py || failed=$((failed + 1))
echo
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
