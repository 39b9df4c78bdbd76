#!/usr/bin/env bash
# Tests that the library's ABI is the recorded one, and that changes are noticed: each is made to a copy of the header.
#   abi
# ZOOLOCK_TEST_REPORT names a file that gets a line per test.
set -euo pipefail

# shellcheck source=ffi-c/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"
trap 'rm -rf "$work"' EXIT

# The check says so of a header with one change.
is_told_of() { # WHAT SED-SCRIPT
    local changed=$work/changed.h said
    sed -E "$2" "$root/include/zoolock.h" >"$changed"
    if cmp -s "$changed" "$root/include/zoolock.h"; then
        echo "nothing was changed"
        return 1
    fi
    if said=$(ZOOLOCK_HEADER=$changed "$here/abi.sh" --check 2>&1); then
        echo "not noticed"
        return 1
    fi
    echo "$said"
    grep -q "$1" <<<"$said"
}
breaks='programs that are built already would break'

check abi the_recorded_abi_is_the_headers "$here/abi.sh" --check || true
check abi a_function_that_is_gone_is_noticed is_told_of "$breaks" '/^bool zoolock_guard_is_held\(/d' || true
check abi another_parameter_is_noticed is_told_of "$breaks" 's/^(bool zoolock_guard_is_held\()/\1int more, /' || true
check abi another_result_is_noticed is_told_of "$breaks" 's/^bool (zoolock_guard_is_held\()/long \1/' || true
check abi another_layout_is_noticed is_told_of "$breaks" 's/^  uint64_t contended;/  uint32_t contended;/' || true
check abi another_value_is_noticed is_told_of "$breaks" 's/ZOOLOCK_TIMEOUT = 3/ZOOLOCK_TIMEOUT = 30/' || true
check abi a_value_that_is_gone_is_noticed is_told_of "$breaks" '/^  ZOOLOCK_INTERNAL = 14,/d' || true
check abi a_callback_of_another_type_is_noticed \
    is_told_of "$breaks" 's/^(typedef void \(\*zoolock_lost_callback\)\()/\1int more, /' || true
check abi a_function_that_is_new_breaks_nobody_and_is_to_be_recorded \
    is_told_of 'zoolock.abi is stale' 's/^bool zoolock_guard_is_held\(.*/&\nbool zoolock_guard_is_new(void);/' || true
check abi a_value_that_is_new_breaks_nobody_and_is_to_be_recorded \
    is_told_of 'zoolock.abi is stale' 's/ZOOLOCK_INTERNAL = 14,/&\n  ZOOLOCK_NEW = 15,/' || true
summary
