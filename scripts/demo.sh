#!/usr/bin/env bash
# `make demo`: builds, then four languages take turns on one lock. Arguments are the demo's own, such as --seconds 3.
set -euo pipefail
. "$(dirname "$0")/env.sh"
java=--without-java
for ((at = 1; at < $#; at++)); do
    if [ "${!at}" = --server ]; then
        value=$((at + 1))
        if [ "${!value}" = apache ]; then java=; fi
    fi
done
# No argument rather than an empty one.
scripts/build.sh ${java:+"$java"} >&2
exec "$TARGET/release/demo" --c "$TARGET/release/demo-worker-c" --python "$PYTHON" --node node \
    --workers tests/demo/workers "$@"
