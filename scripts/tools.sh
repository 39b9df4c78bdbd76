#!/usr/bin/env bash
# Sees to the tools that building and testing need: installs what is missing where it may (Debian, as root), and says
# what is missing where it may not. With --without-java all but what starting a real ZooKeeper server needs; with
# --databases only what the examples need beyond that.
set -euo pipefail

missing=()
need() { # PACKAGE, then a command that succeeds where it is there
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
need build-essential sh -c 'cc --version && c++ --version && make --version'
need python3 python3 --version
# A virtual environment needs more than the interpreter on Debian.
need python3-venv python3 -c 'import venv, ensurepip'
if [ "${1-}" = --databases ]; then
    need libsqlite3-dev sh -c 'echo "#include <sqlite3.h>" | cc -E -x c -'
    need libpq-dev pg_config --includedir
    if [ "${ZOOLOCK_SKIP_POSTGRES-}" != 1 ]; then
        # PostgreSQL's programs are not in PATH on Debian.
        need postgresql sh -c 'command -v initdb || ls /usr/lib/postgresql/*/bin/initdb'
    fi
elif [ "${1-}" != --without-java ]; then
    need default-jdk-headless sh -c 'javac -version && java -version'
    need maven mvn -v
fi
if ! command -v node >/dev/null; then missing+=(nodejs npm); fi

if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "These are needed (names of Debian's packages): ${missing[*]}" >&2
        exit 1
    fi
    echo "Installing ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi

failed=0
wrong() {
    echo "$1" >&2
    failed=1
}
cargo --version >/dev/null 2>&1 || wrong "Rust is needed, 1.88 or newer: see rustup.rs"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || wrong "Python 3.10 or newer is needed"
node -e 'if (Number(process.versions.node.split(".")[0]) < 20) process.exit(1)' || wrong "Node 20 or newer is needed"
npm --version >/dev/null 2>&1 || wrong "npm is needed, which comes with Node"
exit $failed
