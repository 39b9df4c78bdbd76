#!/bin/sh
# Runs a part of the tests, with the addon that is built already, on every version of Node that is
# supported but the one that is installed, which test.sh uses; or on those given: 20 22 24. They come
# from npm, pinned, about 100 MB each. The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$0")"
installed=$(node --print 'process.versions.node.split(".")[0]')
if [ $# -eq 0 ]; then
    for major in 20 22 24; do
        [ "$major" = "$installed" ] || set -- "$@" "$major"
    done
fi
if [ -z "${ZOOLOCK_ENSEMBLE:-}" ]; then
    cargo build --quiet --release -p zoolock-ensemble
    ZOOLOCK_ENSEMBLE=${CARGO_TARGET_DIR:-../target}/release/ensemble
fi
ZOOLOCK_ENSEMBLE=$(realpath "$ZOOLOCK_ENSEMBLE")
export ZOOLOCK_ENSEMBLE
addon() { [ -n "$(find . -maxdepth 1 -name '*.node')" ]; }
[ -d node_modules ] || npm ci --no-audit --no-fund --loglevel=error
addon || npm run --silent build

# What differs between versions: the ends of processes and threads, garbage, syntax, listeners.
# Most of it needs no server but the embedded one.
files='abort dispose events examples exclusion inspect log pool rejections release rwlock statistics
    testing testing-process withlock workers'
tests=test/modules.test.cjs
for file in $files; do tests="$tests test/$file.test.mjs"; done

outputs=$(mktemp -d)
trap 'rm -r "$outputs"' EXIT
run() { # MAJOR
    folder=test/versions/$1
    binary=$(find "$folder/node_modules" -path '*/bin/node' -type f 2>/dev/null || true)
    if [ -z "$binary" ]; then
        npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
        binary=$(find "$folder/node_modules" -path '*/bin/node' -type f)
    fi
    version=$("$binary" --version)
    case $version in "v$1."*) ;; *)
        echo "Node $1 is wanted, and $binary is $version" >&2
        return 1
        ;;
    esac
    echo "== Node $version"
    # shellcheck disable=SC2086
    ZOOLOCK_TEST_SUITE=node$1 "$binary" --test --test-timeout=300000 \
        --test-reporter=./test/support/reporter.mjs $tests
}
started=
for major; do
    { status=0; run "$major" || status=$?; echo "$status" >"$outputs/$major.status"; } \
        >"$outputs/$major" 2>&1 &
    started="$started $!"
done
# shellcheck disable=SC2086
wait $started

failed=0
for major; do
    cat "$outputs/$major"
    [ "$(cat "$outputs/$major.status")" = 0 ] || failed=1
done
cat "$outputs"/[0-9][0-9] | awk '
    /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3 }
    END { print passed + 0 " passed, " failed + 0 " failed" }'
exit $failed
