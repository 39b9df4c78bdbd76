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
# As every consumer resolves the types: import and require of both generations, and bundlers.
npx --no-install tsc --project .
npx --no-install tsc --project . --module node16 --moduleResolution node16
npx --no-install tsc --project test/types/tsconfig.bundler.json
npx --no-install attw --pack . --format ascii
npx --no-install publint --strict
node test/tsdoc.mjs
for file in index.cjs index.mjs lib/*.js test/*.mjs test/*.cjs test/support/*.mjs test/programs/*.mjs \
    examples/*.mjs; do
    node --check "$file"
done
