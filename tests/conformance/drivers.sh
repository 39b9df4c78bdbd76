# Sourced by what runs the drivers of all languages; `set -euo pipefail` is the caller's. `build_drivers WORK` builds in
# WORK what is not there yet, and says nothing on standard output: the last line there is a runner's. Then $drivers is where
# the sources are, the C driver is WORK/driver-c, and the others are run by $ZOOLOCK_PYTHON and, with $ZOOLOCK_NODE, by node.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
drivers=$root/tests/conformance/drivers

build_drivers() { # WORK
  local work=$1
  mkdir -p "$work"
  if [ -z "${ZOOLOCK_C_LIB:-}" ]; then
    cargo build --release -p zoolock-c
    ZOOLOCK_C_LIB=$target/release
  fi
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
