#!/usr/bin/env bash
# Builds the library and tests its C interface against a real ensemble of three servers:
#   c            linked with libzoolock.so
#   c-static     linked with libzoolock.a
#   c-sanitized  as c-static, with gcc's address and undefined-behaviour sanitizers, if it has them;
#                of the forks those of a process without threads
#   c-valgrind   as c, under valgrind, if it is there or can be installed; the tests about locks alone
# Usage: test.sh [SUITE...]. ZOOLOCK_TEST_REPORT names a file that gets a line per test;
# ZOOLOCK_ENSEMBLE names the ensemble program, which is built otherwise.
set -euo pipefail

# shellcheck source=ffi-c/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"
programs=(null input mutex async reentrant rwlock close auth callback testserver fork faults)
# Each test takes valgrind a second or more; bad input, and what is the same in Rust, are the sanitizers' part.
valgrind_programs=(mutex async reentrant rwlock close callback)
calm_programs=(null input mutex async reentrant rwlock close auth callback testserver)
suites=("$@")
[ $# -gt 0 ] || suites=(c c-static c-sanitized c-valgrind)

cd "$root"
cargo build --release --quiet -p zoolock-c
if [ -z "${ZOOLOCK_ENSEMBLE-}" ]; then
    cargo build --release --quiet -p zoolock-ensemble
    ZOOLOCK_ENSEMBLE=$release/ensemble
fi

# What the script started: the ensemble ends with its standard input.
cleanup() {
    if [ -n "${ensemble_pid-}" ]; then
        exec {to_ensemble}>&-
        wait "$ensemble_pid" || true
    fi
    rm -rf "$work"
}
trap cleanup EXIT

# ---- how things are compiled ----

test_flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -g "${warnings[@]}" -I"$root/include" -pthread)

compile_tests() { # DIRECTORY FLAG... -- LINK...
    local directory=$1 flags=() program
    shift
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    mkdir -p "$directory"
    for program in "${programs[@]}"; do
        gcc "${test_flags[@]}" "${flags[@]}" -o "$directory/test_$program" \
            "$here/tests/test_$program.c" "$here"/tests/{harness,support,control}.c "$@" || return 1
    done
}

compiles_as() { # LANGUAGE STANDARD COMPILER
    printf '#include <zoolock.h>\nint main(void) { return zoolock_version() == 0; }\n' |
        "$3" -x "$1" "-std=$2" "${warnings[@]}" -Wundef -I"$root/include" -o "$work/header" - \
            -x none "${shared_link[@]}" && "$work/header"
}

# ---- the header ----

functions_of_header() {
    sed -nE 's/^[a-z][a-z0-9_ *]*\b(zoolock_[a-z_]+)\(.*/\1/p' "$root/include/zoolock.h" | sort -u
}

exports_are_the_headers_functions() {
    diff <(functions_of_header) \
        <(nm -D --defined-only "$release/libzoolock.so" | awk '{ print $3 }' | sort -u)
}

every_pointer_function_is_tested_with_null() {
    local missing
    missing=$(functions_of_header |
        while read -r function; do grep -q "\b$function\b" "$here/tests/test_null.c" || echo "$function"; done)
    [ -z "$missing" ] || { echo "not in test_null.c: $missing"; return 1; }
}

check c the_header_is_current "$here/generate-header.sh" --check || true
check c the_header_is_c11 compiles_as c c11 gcc || true
if command -v g++ >/dev/null; then
    check c the_header_is_cpp17 compiles_as c++ c++17 g++ || true
fi
check c the_library_exports_what_the_header_declares exports_are_the_headers_functions || true
check c every_function_is_tested_with_null every_pointer_function_is_tested_with_null || true

# ---- the ensemble ----

coproc ENSEMBLE { exec "$ZOOLOCK_ENSEMBLE" run --servers 3 --tick-ms 500; }
ensemble_pid=$ENSEMBLE_PID
exec {to_ensemble}>&"${ENSEMBLE[1]}" {ENSEMBLE[1]}>&-
read -r ready <&"${ENSEMBLE[0]}"
field() { sed -E "s/.*\"$1\":\"([^\"]*)\".*/\1/" <<<"$ready"; }
ZOOLOCK_TEST_HOSTS=$(field hosts)
ZOOLOCK_TEST_CONTROL=$(field control)
export ZOOLOCK_TEST_HOSTS ZOOLOCK_TEST_CONTROL
# Nothing listens there.
export ZOOLOCK_HOSTS=127.0.0.1:1

order() { "$ZOOLOCK_ENSEMBLE" ctl "$ZOOLOCK_TEST_CONTROL" "$@" >/dev/null; }

# ---- the test programs ----

# `only` in the environment is how the names of the selected tests begin.
run_tests() { # SUITE DIRECTORY PROGRAM... -- WRAPPER...
    local suite=$1 directory=$2 selected=() program test
    shift 2
    while [ "$1" != -- ]; do
        selected+=("$1")
        shift
    done
    shift
    for program in "${selected[@]}"; do
        for test in $("$directory/test_$program" | grep "^${only-}"); do
            # A test that failed may have left its faults behind.
            check "$suite" "$test" timeout "$limit" "$@" "$directory/test_$program" "$test" ||
                order heal client all
        done
    done
}

example_says() { # STATUS TEXT EXAMPLE ARGUMENT...
    local status=0 said expected=$1 text=$2 program=$work/$3
    shift 3
    said=$(timeout "$limit" "$program" "$@" 2>&1) || status=$?
    echo "$said (status $status)"
    [ "$status" = "$expected" ] && grep -q "$text" <<<"$said"
}

run_examples() {
    local example
    for example in order_service scheduled_job; do
        check c "the_example_${example}_compiles" gcc -std=c11 "${warnings[@]}" -I"$root/include" \
            -o "$work/$example" "$here/examples/$example.c" "${shared_link[@]}" || return 0
    done
    local -x ZOOLOCK_HOSTS=$ZOOLOCK_TEST_HOSTS JOBS_DIR=$work
    check c order_service_places_an_order \
        example_says 0 '^order placed, token [0-9]' order_service ann tea || true
    check c scheduled_job_does_a_batch example_says 0 '^done' scheduled_job monday || true
    check c scheduled_job_does_a_batch_once example_says 0 '^was done before' scheduled_job monday || true
    # Another instance holds the locks.
    local contender=_c_00000000-0000-4000-8000-000000000000-lock-
    order ensure /locks/order/bob && order create "/locks/order/bob/$contender" - ephemeral-sequential
    order ensure /locks/job/nightly && order create "/locks/job/nightly/$contender" - ephemeral-sequential
    check c order_service_tells_of_an_order_in_progress \
        example_says 1 '^order in progress' order_service bob tea || true
    local -x JOB_PATIENCE_MS=300
    check c scheduled_job_skips_a_round_that_another_does \
        example_says 0 '^skipped: another instance is at it' scheduled_job tuesday || true
    # Nothing listens there.
    ZOOLOCK_HOSTS=127.0.0.1:1
    check c scheduled_job_tells_of_an_outage example_says 1 '^connect: no server' scheduled_job friday || true
    check c order_service_tells_its_usage example_says 2 '^usage: order_service USER ITEM' order_service || true
    check c scheduled_job_tells_its_usage example_says 2 '^usage: scheduled_job BATCH' scheduled_job || true
    local long
    long=$(printf '%300s' '' | tr ' ' x)
    check c order_service_cuts_no_name_off example_says 2 'too long' order_service "$long" tea || true
    check c scheduled_job_cuts_no_name_off example_says 2 'too long' scheduled_job "$long" || true
}

# The first program in C of the README, with the library and nothing else.
readmes_program_runs() {
    awk '/^```c$/ { shown = 1; next } /^```$/ && shown { exit } shown' "$root/README.md" >"$work/readme.c"
    gcc -std=c11 "${warnings[@]}" -I"$root/include" -o "$work/readme" "$work/readme.c" "${shared_link[@]}"
    local said
    said=$(timeout "$limit" "$work/readme")
    echo "$said"
    grep -Eqx 'fencing token [0-9]+' <<<"$said"
}

for suite in "${suites[@]}"; do
    case $suite in
    c)
        check c the_tests_compile compile_tests "$work/shared" -O1 -- "${shared_link[@]}" &&
            run_tests c "$work/shared" "${programs[@]}" --
        run_examples
        check c the_readmes_program_runs readmes_program_runs || true
        ;;
    c-static)
        check c-static the_tests_compile compile_tests "$work/static" -O1 -- "${static_link[@]}" &&
            run_tests c-static "$work/static" "${calm_programs[@]}" --
        ;;
    c-sanitized)
        if can_sanitize gcc; then
            check c-sanitized the_tests_compile \
                compile_tests "$work/sanitized-tests" -O1 "${sanitizers[@]}" -- "${static_link[@]}" && {
                run_tests c-sanitized "$work/sanitized-tests" "${calm_programs[@]}" faults --
                # Only forks of a process without threads: gcc's allocator for the address sanitizer
                # keeps its locks over a fork, and the child of a process with threads may wait
                # for them for ever. A child leaks what it inherited, on purpose (R18).
                only=r17_ ASAN_OPTIONS=detect_leaks=0 \
                    run_tests c-sanitized "$work/sanitized-tests" fork --
            }
        else
            echo "skipped c-sanitized: gcc has no sanitizers here"
        fi
        ;;
    c-valgrind)
        if scripts/debian.sh valgrind valgrind --version; then
            check c-valgrind the_tests_compile compile_tests "$work/valgrind" -O0 -- "${shared_link[@]}" &&
                run_tests c-valgrind "$work/valgrind" "${valgrind_programs[@]}" -- \
                    valgrind --quiet --error-exitcode=99 --leak-check=full \
                    --errors-for-leak-kinds=definite --show-leak-kinds=definite
        else
            echo "skipped c-valgrind: valgrind is not installed"
        fi
        ;;
    *)
        echo "no such suite: $suite" >&2
        exit 2
        ;;
    esac
done

summary
