#!/usr/bin/env bash
# Runs the cases of secured ensembles in every language. Arguments go to the runner; see the README.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../conformance/drivers.sh"
work=$target/secured
cd "$root"

cargo build --release -p zoolock-conformance -p zoolock-secured >&2
build_drivers "$work"

# Everything that is logged is searched for secrets.
export ZOOLOCK_DRIVER_LOG=1
exec "$target/release/secured" \
  --driver rust="$target/release/conformance-driver-rust" \
  --driver c="$work/driver-c" \
  --driver python="$ZOOLOCK_PYTHON $drivers/python/driver.py" \
  --driver node="node $drivers/node/driver.mjs" \
  "$@"
