#!/usr/bin/env bash
# Runs the conformance scenarios in every language. Arguments go to the runner; see the README.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/drivers.sh"
work=$target/conformance
cd "$root"

cargo build --release -p zoolock-conformance >&2
build_drivers "$work"

exec "$target/release/conformance" \
  --driver c="$work/driver-c" \
  --driver c-async="$work/driver-c async" \
  --driver python="$ZOOLOCK_PYTHON $drivers/python/driver.py" \
  --driver node="node $drivers/node/driver.mjs" \
  "$@"
