#!/bin/sh
# Checks form and types. Needs what `npm ci` installs.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund --loglevel=error
cargo fmt --check -p zoolock-node
cargo clippy --quiet -p zoolock-node -- -D warnings
npx --no-install tsc --project .
for file in index.cjs index.mjs lib/*.js test/*.mjs test/*.cjs test/support/*.mjs examples/*.mjs; do
    node --check "$file"
done
