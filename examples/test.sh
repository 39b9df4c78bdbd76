#!/usr/bin/env bash
# Builds the examples and runs them, in every language, against an embedded ZooKeeper server, SQLite and PostgreSQL.
# ZOOLOCK_TEST_REPORT names a file that gets a line per test; ZOOLOCK_SKIP_POSTGRES=1 leaves PostgreSQL out.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/../scripts/env.sh"

if [ -z "${ZOOLOCK_C_LIB-}" ] || [ -z "${ZOOLOCK_PYTHON-}" ] || [ -z "${ZOOLOCK_NODE-}" ]; then
    scripts/build.sh --without-java >&2
fi
: "${ZOOLOCK_C_LIB:=$TARGET/release}" "${ZOOLOCK_PYTHON:=$PYTHON}" "${ZOOLOCK_NODE:=$ROOT/node}"
scripts/tools.sh --databases >&2
built=$TARGET/examples
mkdir -p "$built"

cargo build --quiet -p zoolock-examples
cargo build --quiet -p zoolock --features testing --examples

flags=(-O2 -Wall -Wextra -Wpedantic -Werror -Iinclude -isystem "$(pg_config --includedir)")
libraries=(-L"$ZOOLOCK_C_LIB" -lzoolock "-Wl,-rpath,$ZOOLOCK_C_LIB" -lsqlite3 -lpq)
stores=()
for source in examples/c/store*.c; do
    object=$built/$(basename "$source" .c).o
    cc -std=c11 -D_POSIX_C_SOURCE=200809L "${flags[@]}" -c -o "$object" "$source"
    stores+=("$object")
done
cc -std=c11 -D_POSIX_C_SOURCE=200809L "${flags[@]}" -o "$built/shop-c" examples/c/shop.c "${stores[@]}" "${libraries[@]}"
c++ -std=c++17 "${flags[@]}" -o "$built/shop-cpp" examples/cpp/shop.cpp "${stores[@]}" "${libraries[@]}"

"$ZOOLOCK_PYTHON" -c 'import psycopg' 2>/dev/null ||
    "$ZOOLOCK_PYTHON" -m pip install --quiet --disable-pip-version-check -r examples/python/requirements.txt

[ examples/node/node_modules/.package-lock.json -nt examples/node/package-lock.json ] ||
    (cd examples/node && npm ci --no-audit --no-fund --loglevel=error)
ln -sfn "$ZOOLOCK_NODE" examples/node/node_modules/zoolock
# Node has SQLite since 22.13; where an older one is at work, the one that the package's tests use, too.
node_with_sqlite=node
if ! node -e 'require("node:sqlite")' 2>/dev/null; then
    newer=node/test/versions/24
    compgen -G "$newer/node_modules/node-*/bin/node" >/dev/null || (cd "$newer" && npm ci --no-audit --no-fund --loglevel=error)
    node_with_sqlite=$(echo "$ROOT/$newer"/node_modules/node-*/bin/node)
fi

exec "$ZOOLOCK_PYTHON" examples/tests/run.py \
    "$TARGET/debug/shop" "$TARGET/debug/examples" "$built/shop-c" "$built/shop-cpp" node "$node_with_sqlite"
