#!/bin/sh
# Checks form and types, and that the generated files are as they would be generated now.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund --loglevel=error
cargo fmt --check -p zoolock-node
cargo clippy --quiet -p zoolock-node -- -D warnings
generated=$(mktemp -d)
trap 'rm -r "$generated"' EXIT
npm run --silent build -- --output-dir "$generated"
for file in native.js native.d.ts; do
    diff -u "$file" "$generated/$file"
done
npx --no-install tsc --project .
for file in index.cjs index.mjs lib/*.js test/*.mjs test/*.cjs test/support/*.mjs examples/*.mjs; do
    node --check "$file"
done
