#!/usr/bin/env bash
# `make figures`: writes the tables of README.md and docs anew from the results of `make bench` and `make growth`, and takes
# their plots into docs.
set -euo pipefail
. "$(dirname "$0")/env.sh"
out=$TARGET/bench
for name in results growth; do
    if [ ! -e "$out/$name.json" ]; then
        echo "$out/$name.json is missing: run make bench and make growth first" >&2
        exit 1
    fi
done
python3 tests/bench/tables.py "$out/results.json" "$out/growth.json" README.md docs/performance.md docs/comparison.md
mkdir -p docs/figures
cp "$out"/plots/*.svg docs/figures/
