#!/usr/bin/env bash
# `make bench`: builds, then measures. Arguments are the benchmark's own, such as --rounds 5.
set -euo pipefail
. "$(dirname "$0")/env.sh"
scripts/build.sh >&2
mkdir -p "$TARGET/bench"
exec "$TARGET/release/bench" --c "$TARGET/release/bench-c" --python "$PYTHON" --node node \
    --programs tests/bench/programs --out "$TARGET/bench/results.json" "$@"
