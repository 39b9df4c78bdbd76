#!/bin/sh
# Builds the addon and runs the tests against real ZooKeeper servers. Arguments: test files, all if
# none. The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$0")"
if [ -z "${ZOOLOCK_ENSEMBLE:-}" ]; then
    cargo build --quiet --release -p zoolock-ensemble
    ZOOLOCK_ENSEMBLE=${CARGO_TARGET_DIR:-../target}/release/ensemble
fi
ZOOLOCK_ENSEMBLE=$(realpath "$ZOOLOCK_ENSEMBLE")
export ZOOLOCK_ENSEMBLE
npm ci --no-audit --no-fund --loglevel=error
npm run --silent build
[ $# -gt 0 ] || set -- test/*.test.mjs test/*.test.cjs
exec node --test --test-timeout=300000 --test-reporter=./test/support/reporter.mjs "$@"
