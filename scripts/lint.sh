#!/usr/bin/env bash
# `make lint`: formatting, warnings, types, and that generated files are as they would be generated now.
set -uo pipefail
. "$(dirname "$0")/env.sh"

scripts/tools.sh || exit 1
# Their headers are in the examples.
scripts/tools.sh --databases || exit 1
passed=0 failed=0
step() { # NAME COMMAND…
    local name=$1
    shift
    echo "== $name"
    if "$@" </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
    fi
}

warn_c() {
    git ls-files -z '*.c' |
        xargs -0 -n 1 cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -Iinclude \
            -isystem "$(pg_config --includedir)" -fsyntax-only
}

# Programs with other libraries, which are not of the workspace. `go vet` needs the modules that set-up gets.
format_peers() {
    cargo fmt --manifest-path tests/peers/zookeeper-client/Cargo.toml --check || return 1
    if ! command -v gofmt >/dev/null; then
        echo "skipped: gofmt is not there"
    elif [ -n "$(gofmt -l tests/peers)" ]; then
        gofmt -d tests/peers
        return 1
    fi
}

# As docs.rs builds it, and every link leads somewhere.
document() {
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps -p zoolock -p zoolock-testserver --features zoolock/testing
}

# One folder at a time: programs of the same name are the same module to mypy.
check_types() { # FOLDER…
    local folder
    for folder; do
        "$VENV/bin/mypy" --config-file= --strict --scripts-are-modules "$folder" || return 1
    done
}

step "cargo fmt" cargo fmt --all --check
# Not --all-targets: that makes a benchmark of the bindings' libraries, in which nothing is exported, so all is unused.
step "cargo clippy" cargo clippy --workspace --lib --bins --tests --examples -- -D warnings
step "peers, format" format_peers
step "Rust docs" document
step "C header" ffi-c/generate-header.sh --check
step "C ABI" ffi-c/abi.sh --check
step "C" warn_c
step "Python" py/lint.sh
programs=(scripts tests/demo/workers tests/bench/programs tests/threads tests/fuzz tests/torture/workers)
# They import what is not installed here.
peers=(testserver/tests/peers tests/peers/redis tests/peers/kazoo/bench.py)
step "programs, ruff" "$VENV/bin/ruff" check --config py/pyproject.toml --extend-ignore D1,S101 "${programs[@]}" "${peers[@]}"
step "programs, format" "$VENV/bin/ruff" format --check --config py/pyproject.toml "${programs[@]}" "${peers[@]}"
step "programs, mypy" check_types "${programs[@]}"
# Their programs are started by name on purpose: they are what the machine has.
benchmark=(tests/bench/*.py)
step "benchmark, ruff" "$VENV/bin/ruff" check --config py/pyproject.toml --extend-ignore D1,S101,S603,S607 "${benchmark[@]}"
step "benchmark, format" "$VENV/bin/ruff" format --check --config py/pyproject.toml "${benchmark[@]}"
step "benchmark, mypy" "$VENV/bin/mypy" --config-file= --strict --scripts-are-modules "${benchmark[@]}"
step "packaging, ruff" "$VENV/bin/ruff" check --config py/pyproject.toml --extend-ignore D1,S101,S603,S607,S202 tests/packaging
step "packaging, format" "$VENV/bin/ruff" format --check --config py/pyproject.toml tests/packaging
step "packaging, mypy" check_types tests/packaging
step "examples, ruff" "$VENV/bin/ruff" check --config py/pyproject.toml --extend-ignore D1,S101,S603,S607,S608 examples docs
step "examples, format" "$VENV/bin/ruff" format --check --config py/pyproject.toml examples docs
# For the types of the examples.
"$VENV/bin/pip" install --quiet --disable-pip-version-check -r examples/python/requirements.txt || exit 1
step "examples, mypy" check_types examples/python examples/tests docs/check
step "Node" node/lint.sh

echo
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
