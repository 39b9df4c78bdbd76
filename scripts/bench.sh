#!/usr/bin/env bash
# `make bench` and `make growth`: builds, gets the libraries to compare with, measures, and draws. Arguments: the name of the
# results, the libraries' names (all if none), then the benchmark's own, such as --rounds 5.
set -euo pipefail
. "$(dirname "$0")/env.sh"
name=$1 libraries=$2
shift 2
scripts/build.sh >&2
out=$TARGET/bench
mkdir -p "$out"
read -ra chosen <<<"${libraries//,/ }"
tests/bench/prepare.py "$out/libraries.json" "$TARGET" "${chosen[@]}" >&2

venv=$out/venv
requirements=tests/bench/requirements.txt
if [ ! -e "$venv/installed" ] || [ "$requirements" -nt "$venv/installed" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" >&2
    touch "$venv/installed"
fi

rm -f "$out/$name.json"
status=0
"$TARGET/release/bench" --manifest "$out/libraries.json" --libraries "$libraries" --out "$out/$name.json" "$@" || status=$?
if [ -e "$out/$name.json" ]; then
    "$venv/bin/python" tests/bench/plots.py "$out/$name.json" "$out/plots"
fi
exit "$status"
