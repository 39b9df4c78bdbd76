#!/usr/bin/env bash
# `make gen`: writes the generated files again: the C header, the stubs of the Python and Node modules.
set -euo pipefail
. "$(dirname "$0")/env.sh"
scripts/tools.sh
ffi-c/generate-header.sh
