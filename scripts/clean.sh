#!/usr/bin/env bash
# `make clean`: removes what was built or installed in this folder.
set -euo pipefail
. "$(dirname "$0")/env.sh"
if command -v cargo >/dev/null; then cargo clean; else rm -rf "$TARGET"; fi
# Only what git ignores: sources that were never added stay.
git clean -fdXq -- core ffi-c py node include tests scripts examples docs
