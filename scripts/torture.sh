#!/usr/bin/env bash
# `make torture`: builds, then sets ensemble and workers on fire. Arguments are the program's own, such as --short.
set -euo pipefail
. "$(dirname "$0")/env.sh"
scripts/build.sh >&2
exec "$TARGET/release/torture" --c "$TARGET/release/torture-worker-c" --python "$PYTHON" --node node \
    --workers tests/torture/workers "$@"
