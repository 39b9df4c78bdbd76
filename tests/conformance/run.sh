#!/usr/bin/env bash
# Runs the conformance scenarios in every language. Arguments go to the runner; see the README.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/conformance
mkdir -p "$work"
cd "$root"

# Building says nothing on standard output: the last line there is the runner's.
{
  cargo build --release -p zoolock-conformance

  if [ -z "${ZOOLOCK_C_LIB:-}" ]; then
    cargo build --release -p zoolock-c
    ZOOLOCK_C_LIB=$target/release
  fi
  "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -pthread \
    -I "$root/include" "$here/drivers/c/driver.c" -o "$work/driver-c" \
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

exec "$target/release/conformance" \
  --driver c="$work/driver-c" \
  --driver c-async="$work/driver-c async" \
  --driver python="$ZOOLOCK_PYTHON $here/drivers/python/driver.py" \
  --driver node="node $here/drivers/node/driver.mjs" \
  "$@"
