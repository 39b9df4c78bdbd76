#!/usr/bin/env bash
# Compares the crates' API with that of the last release, by cargo-semver-checks: a change that breaks programs needs a
# version that says so. Does nothing before the first release.
set -euo pipefail
. "$(dirname "$0")/env.sh"
released=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)
if [ -z "$released" ]; then
    echo "there is no release to compare with" >&2
    exit 0
fi
exec cargo semver-checks --baseline-rev "$released" --package zoolock --package zoolock-testserver --features testing
