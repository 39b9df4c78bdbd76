#!/usr/bin/env bash
# `make demo`: builds, then four languages take turns on one lock. Arguments are the demo's own, such as --seconds 3.
set -euo pipefail
. "$(dirname "$0")/env.sh"
scripts/build.sh >&2
exec "$TARGET/release/demo" --c "$TARGET/release/demo-worker-c" --python "$PYTHON" --node node \
    --workers tests/demo/workers "$@"
