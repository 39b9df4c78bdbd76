#!/usr/bin/env bash
# `make lint`: formatting, warnings, types, and that generated files are as they would be generated now.
set -uo pipefail
. "$(dirname "$0")/env.sh"

scripts/tools.sh || exit 1
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

step "cargo fmt" cargo fmt --all --check
step "cargo clippy" cargo clippy --workspace --all-targets -- -D warnings
step "C and C++, header" ffi-c/lint.sh
step "Python" py/lint.sh
programs=(scripts tests/demo/workers tests/bench/programs)
step "programs, ruff" "$VENV/bin/ruff" check --config py/pyproject.toml --extend-ignore D1,S101 "${programs[@]}"
step "programs, format" "$VENV/bin/ruff" format --check --config py/pyproject.toml "${programs[@]}"
step "programs, mypy" "$VENV/bin/mypy" --config-file= --strict --scripts-are-modules "${programs[@]}"
step "Node" node/lint.sh

echo
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
