#!/usr/bin/env bash
# `make gen`: writes the generated files again: include/zoolock.h, ffi-c/abi/zoolock.abi, core/public-api.txt, node/native.js and
# node/native.d.ts. Python's _native.pyi is written by hand, and its tests compare it with the module.
set -euo pipefail
. "$(dirname "$0")/env.sh"
scripts/tools.sh
ffi-c/generate-header.sh
ffi-c/abi.sh
UPDATE_SNAPSHOTS=yes cargo test --quiet -p zoolock-api
(cd node && npm ci --no-audit --no-fund && npm run --silent build)
