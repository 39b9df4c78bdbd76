#!/bin/sh
# Builds the wheel, installs it into py/.venv and runs the tests against real ZooKeeper servers.
# Arguments go to pytest.
set -eu
. "$(dirname "$0")/env.sh"
if [ -z "${ZOOLOCK_ENSEMBLE:-}" ]; then
    cargo build --quiet --release -p zoolock-ensemble
    ZOOLOCK_ENSEMBLE=${CARGO_TARGET_DIR:-../target}/release/ensemble
    export ZOOLOCK_ENSEMBLE
fi
exec .venv/bin/python -m pytest "$@"
