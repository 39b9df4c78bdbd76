# Sourced by the test scripts: how they report, and how C and C++ are compiled.
# shellcheck shell=bash disable=SC2034

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
target=${CARGO_TARGET_DIR:-$root/target}
release=$target/release

# Longer than any test takes: a test that hangs fails.
limit=150
passed=0
failed=0
work=$(mktemp -d)

report() { # ok|FAIL SUITE TEST
    if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    echo "$1 $2 $3"
    if [ -n "${ZOOLOCK_TEST_REPORT-}" ]; then echo "$1 $2 $3" >>"$ZOOLOCK_TEST_REPORT"; fi
}

# A command that has to succeed, as a test.
check() { # SUITE TEST COMMAND...
    local suite=$1 test=$2
    shift 2
    if "$@" >"$work/log" 2>&1; then
        report ok "$suite" "$test"
    else
        sed 's/^/    /' "$work/log"
        report FAIL "$suite" "$test"
        return 1
    fi
}

# The last line of a suite, and its status.
summary() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

warnings=(-Wall -Wextra -Wpedantic -Werror)
shared_link=(-L"$release" "-Wl,-rpath,$release" -lzoolock)
# The system libraries are those of `rustc --print native-static-libs`.
read -ra private_libs <"$here/package/private-libs"
static_link=("$release/libzoolock.a" "${private_libs[@]}")
sanitizers=("-fsanitize=address,undefined" -fno-sanitize-recover=undefined -fno-omit-frame-pointer)

can_sanitize() { # COMPILER
    echo 'int main(void) { return 0; }' |
        "$1" "${sanitizers[@]}" -x c -o "$work/sanitized" - 2>/dev/null && "$work/sanitized"
}
