#!/usr/bin/env bash
# Keeps ffi-c/abi/zoolock.abi, what programs that are linked with the shared library rely on: the functions and types of
# include/zoolock.h, by libabigail. With --check it is compared instead: a function that is gone or takes something else, a
# struct of another layout, or a value of another number, would break programs that are built already.
#
# It is taken from a library of empty functions that is made from the header, whose types are opaque, since what is behind them
# may change. That the real library has these functions, and no others, is tested by test.sh; that the header is the library's,
# by generate-header.sh.
# Usage: abi.sh [--check | --break]: --break takes a change that breaks programs, for which SOVERSION in build.rs has to rise.
set -euo pipefail

# shellcheck source=ffi-c/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"
trap 'rm -rf "$work"' EXIT
known=$here/abi/zoolock.abi
header=$(realpath "${ZOOLOCK_HEADER:-$root/include/zoolock.h}")

"$root/scripts/debian.sh" abigail-tools sh -c 'command -v abidw && command -v abidiff'

# The declarations of functions, each with a body instead of its semicolon.
{
    echo "#include \"$header\""
    sed -n '/^extern "C" {/,/^}  \/\/ extern "C"/p' "$header" | sed -e '/^ \*\|^\/\*\*\|^#\|^extern\|^}/d' |
        sed 's/;$/ { __builtin_trap(); }/'
} >"$work/functions.c"
soname=$(sed -n 's/^const SOVERSION: u32 = \([0-9]*\);$/libzoolock.so.\1/p' "$here/build.rs")
# From its folder, so that the file is recorded by its name alone.
(cd "$work" && cc -std=c11 -g -shared -fPIC "-Wl,-soname,$soname" -o libzoolock.so functions.c)
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --out-file "$work/zoolock.abi" "$work/libzoolock.so"

# abidiff's status is a set of bits: 4 is a change, 8 one that breaks programs, 1 and 2 are misuse.
status=0
if [ -e "$known" ]; then
    abidiff --no-show-locs --harmless "$known" "$work/zoolock.abi" >"$work/changes" || status=$?
else
    echo "there was none" >"$work/changes"
    status=4
fi
if ((status & 3)); then
    cat "$work/changes" >&2
    exit 1
fi
# Functions and values that are added break nobody: abidiff leaves them out of its counts, or counts them apart.
breaking() {
    local counted
    # Its status tells of the change that is known by now.
    counted=$(abidiff --no-show-locs "$known" "$work/zoolock.abi" || true)
    ((status & 8)) || grep 'summary:' <<<"$counted" | grep -Eq '[1-9][0-9]* (Removed|Changed)'
}

case ${1-} in
--check)
    if [ "$status" != 0 ]; then
        head -n 40 "$work/changes" >&2
        if breaking; then
            echo "programs that are built already would break: undo that, or see ffi-c/abi.sh --break" >&2
        else
            echo "ffi-c/abi/zoolock.abi is stale: run ffi-c/abi.sh" >&2
        fi
        exit 1
    fi
    ;;
'' | --break)
    if [ -e "$known" ] && breaking && [ "${1-}" != --break ]; then
        cat "$work/changes" >&2
        echo "programs that are built already would break: not taken without --break" >&2
        exit 1
    fi
    mkdir -p "$(dirname "$known")"
    cp "$work/zoolock.abi" "$known"
    ;;
*)
    echo "usage: abi.sh [--check | --break]" >&2
    exit 2
    ;;
esac
