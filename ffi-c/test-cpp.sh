#!/usr/bin/env bash
# Tests the C++ headers against the server inside the program:
#   cpp   the headers under every compiler and standard that is here, the tests, the examples, and the programs in the READMEs
# The tests run with gcc's address and undefined-behaviour sanitizers, if it has them. Each runs in a process of its own.
# Usage: test-cpp.sh [TEST...]: names of tests, or how they begin. ZOOLOCK_TEST_REPORT names a file that gets a line per test.
set -euo pipefail

# shellcheck source=ffi-c/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"
trap 'rm -rf "$work"' EXIT
cd "$root"
scripts/debian.sh libgtest-dev test -e /usr/include/gtest/gtest.h
cargo build --release --quiet -p zoolock-c
# Nothing listens there.
export ZOOLOCK_HOSTS=127.0.0.1:1

strict=("${warnings[@]}" -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -I"$root/include")

# ---- the headers ----

compiles() { # COMPILER FLAG...
    local compiler=$1
    shift
    "$compiler" "${strict[@]}" "$@" -fsyntax-only "$here/tests/cpp/requirements.cpp"
}

each_header_stands_alone() {
    (cd include && printf '%s\n' zoolock.hpp zoolock/*.hpp) |
        xargs -P 2 -I{} g++ -std=c++17 "${strict[@]}" -fsyntax-only -include {} -x c++ /dev/null
}

runs_without_rtti() {
    g++ -std=c++17 "${strict[@]}" -fno-rtti -o "$work/no-rtti" "$here/tests/cpp/no_rtti.cpp" "${shared_link[@]}" &&
        timeout "$limit" "$work/no-rtti"
}

says_why_not() { # TEXT FLAG...
    local text=$1 said
    shift
    if said=$(g++ "${strict[@]}" "$@" -fsyntax-only -x c++ - 2>&1 <<<'#include <zoolock.hpp>'); then
        echo "it compiles"
        return 1
    fi
    echo "$said"
    grep -q "#error \"$text" <<<"$said"
}

compilers=(g++)
# Debian names it after its version, too.
clang=$(compgen -c | grep -Ex 'clang\+\+(-[0-9]+)?' | sort -V | tail -n 1 || true)
if [ -n "$clang" ]; then compilers+=("$clang"); else echo "skipped clang++: it is not installed"; fi

headers() {
    local compiler standard
    for compiler in "${compilers[@]}"; do
        for standard in c++17 c++20 c++23; do
            # Compilers of before the standard was finished call it otherwise.
            if [ "$standard" = c++23 ] && ! "$compiler" -std=c++23 -fsyntax-only -x c++ /dev/null 2>/dev/null; then
                standard=c++2b
            fi
            check cpp "the_headers_are_${standard}_for_$compiler" compiles "$compiler" "-std=$standard" || true
        done
    done
    check cpp each_header_stands_alone each_header_stands_alone || true
    check cpp the_headers_work_without_rtti runs_without_rtti || true
    check cpp without_exceptions_the_header_says_so \
        says_why_not 'zoolock.hpp reports failures by exceptions' -std=c++17 -fno-exceptions || true
    check cpp before_cpp17_the_header_says_so says_why_not 'zoolock.hpp needs C++17' -std=c++14 || true
}

# ---- the tests ----

objects=() flags=(-std=c++17 -g1 -O0 "${strict[@]}")
link=("${shared_link[@]}")
if can_sanitize gcc; then
    flags+=("${sanitizers[@]}")
    link=("${static_link[@]}")
else
    echo "not sanitized: gcc has no sanitizers here"
fi

# All at once: most of the time goes into gtest and the standard library.
compile_tests() {
    local source pids=() pid status=0
    for source in "$here"/tests/cpp/{test_*,requirements}.cpp; do
        objects+=("$work/$(basename "$source" .cpp).o")
        g++ "${flags[@]}" -c -o "${objects[-1]}" "$source" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || status=1; done
    [ "$status" = 0 ] && g++ "${flags[@]}" -o "$work/tests" "${objects[@]}" -lgtest_main -lgtest -lpthread "${link[@]}"
}

run_tests() { # [HOW A NAME BEGINS...]
    local test name begin
    for test in $("$work/tests" --gtest_list_tests | sed 's/ *#.*//' | awk '/^[^ ]/ { suite = $1 } /^ / { print suite $1 }'); do
        name=${test#*.}
        for begin in "${@-}"; do
            [[ $name == "$begin"* ]] || continue
            # A process is left at once where a callback never returns: what it still has is no leak.
            check cpp "$name" timeout "$limit" "$work/tests" "--gtest_filter=$test" || true
        done
    done
}

# ---- examples and documents ----

example_says() { # STATUS TEXT EXAMPLE ARGUMENT...
    local status=0 said expected=$1 text=$2 program=$work/$3
    shift 3
    said=$(timeout "$limit" "$program" "$@" 2>&1) || status=$?
    echo "$said (status $status)"
    [ "$status" = "$expected" ] && grep -q "$text" <<<"$said"
}

program() { # NAME SOURCE
    g++ -std=c++17 "${strict[@]}" -o "$work/$1" "$2" "${shared_link[@]}"
}

examples() {
    local example
    for example in order_service scheduled_job; do
        check cpp "the_example_${example}_compiles" program "$example" "$here/examples/$example.cpp" || return 0
    done
    check cpp the_example_server_compiles program server "$here/tests/cpp/server.cpp" || return 0
    # The server, and a contender of another program on two paths, for as long as its standard input is open.
    coproc SERVER { exec "$work/server" /locks/order/bob /locks/job/busy; }
    local server=$SERVER_PID to_server
    exec {to_server}>&"${SERVER[1]}" {SERVER[1]}>&-
    local -x ZOOLOCK_HOSTS JOBS_DIR=$work JOB_PATIENCE_MS=10000
    read -r ZOOLOCK_HOSTS <&"${SERVER[0]}"
    check cpp order_service_places_an_order example_says 0 '^order placed, token [0-9]' order_service ann tea || true
    check cpp order_service_tells_of_an_order_in_progress example_says 1 '^order in progress' order_service bob tea || true
    check cpp order_service_tells_its_usage example_says 2 '^usage: order_service USER ITEM' order_service || true
    check cpp scheduled_job_does_a_batch example_says 0 '^done' scheduled_job monday || true
    check cpp scheduled_job_does_a_batch_once example_says 0 '^was done before' scheduled_job monday || true
    local -x JOB=busy
    JOB_PATIENCE_MS=300
    check cpp scheduled_job_skips_a_round_that_another_does \
        example_says 0 '^skipped: another instance is at it' scheduled_job tuesday || true
    check cpp scheduled_job_tells_its_usage example_says 2 '^usage: scheduled_job BATCH' scheduled_job || true
    ZOOLOCK_HOSTS=127.0.0.1:1
    check cpp order_service_tells_of_an_outage example_says 1 '^connect: no server' order_service ann tea || true
    exec {to_server}>&-
    wait "$server" || true
}

# The programs in a file that begin with an include, each on its own: they print a token.
documents() { # FILE LANGUAGE COMPILER...
    local file=$1 language=$2 number=0 source
    shift 2
    mkdir -p "$work/blocks"
    rm -f "$work/blocks"/*
    awk -v language="$language" -v to="$work/blocks/" '
        $0 == "```" language { inside = 1; text = ""; next }
        $0 == "```" && inside { inside = 0; if (text ~ /^#include/) { count += 1; printf "%s", text > (to count "." language) } }
        inside { text = text $0 "\n" }' "$root/$file"
    for source in "$work"/blocks/*."$language"; do
        number=$((number + 1))
        check cpp "the_${language}_program_${number}_of_${file//[\/.-]/_}_runs" says_a_token "$source" "$@" || true
    done
}

says_a_token() { # SOURCE COMPILER...
    local source=$1 said
    shift
    "$@" "${warnings[@]}" -I"$root/include" -o "$work/document" "$source" "${shared_link[@]}" || return 1
    said=$(timeout "$limit" "$work/document") || return 1
    echo "$said"
    grep -Eqx 'fencing token [0-9]+' <<<"$said"
}

if [ $# -gt 0 ]; then
    check cpp the_tests_compile compile_tests && run_tests "$@"
else
    headers
    check cpp the_tests_compile compile_tests && run_tests
    examples
    documents README.md cpp g++ -std=c++17
    documents ffi-c/README.md cpp g++ -std=c++17
    documents ffi-c/README.md c gcc -std=c11
fi
summary
