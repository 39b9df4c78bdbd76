#!/usr/bin/env bash
# Runs the cases of secured ensembles in every language. Arguments go to the runner; see the README.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/secured
mkdir -p "$work"
cd "$root"

# Building says nothing on standard output: the last line there is the runner's.
{
  cargo build --release -p zoolock-conformance -p zoolock-secured

  if [ -z "${ZOOLOCK_C_LIB:-}" ]; then
    cargo build --release -p zoolock-c
    ZOOLOCK_C_LIB=$target/release
  fi
  drivers=$root/tests/conformance/drivers
  "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -pthread \
    -I "$root/include" "$drivers/c/driver.c" -o "$work/driver-c" \
    -L "$ZOOLOCK_C_LIB" -lzoolock -Wl,-rpath,"$ZOOLOCK_C_LIB"

  if [ -z "${ZOOLOCK_PYTHON:-}" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet "$(grep "^maturin==" py/tests/requirements.txt)"
    rm -rf "$work/wheel"
    "$work/venv/bin/maturin" build --quiet --release --manifest-path py/Cargo.toml --out "$work/wheel"
    "$work/venv/bin/pip" install --quiet --force-reinstall --no-deps "$work/wheel"/*.whl
    ZOOLOCK_PYTHON=$work/venv/bin/python
  fi

  if [ -z "${ZOOLOCK_NODE:-}" ]; then
    (cd node && npm ci --no-audit --no-fund && npm run build)
    ZOOLOCK_NODE=$root/node
  fi
  export ZOOLOCK_NODE
} >&2

# Everything that is logged is searched for secrets.
export ZOOLOCK_DRIVER_LOG=1
exec "$target/release/secured" \
  --driver rust="$target/release/conformance-driver-rust" \
  --driver c="$work/driver-c" \
  --driver python="$ZOOLOCK_PYTHON $drivers/python/driver.py" \
  --driver node="node $drivers/node/driver.mjs" \
  "$@"
