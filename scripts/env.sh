# Sourced by the scripts: where things are.
# shellcheck shell=bash disable=SC2034
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" || exit 1
TARGET=${CARGO_TARGET_DIR:-target}
case $TARGET in /*) ;; *) TARGET=$ROOT/$TARGET ;; esac
export CARGO_TARGET_DIR=$TARGET
# Where py/env.sh installs the wheel and its tools.
VENV=$ROOT/py/.venv
PYTHON=$VENV/bin/python
# Of a crate that only the tests' observer uses.
export CARGO_FUTURE_INCOMPAT_REPORT_FREQUENCY=never
