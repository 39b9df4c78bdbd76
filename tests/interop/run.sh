#!/usr/bin/env bash
# `make interop`: our languages and the other libraries on the same paths. The last line is `N passed, N failed`.
# `run.sh --crowds --minutes 5` runs only the crowds. Other arguments go to the runner of the scenarios, whose README is
# tests/conformance/README.md: then nothing else is run.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../conformance/drivers.sh"
work=$target/conformance
cd "$root"

scripts/tools.sh >&2
tests/peers/setup.sh
cargo build --release -p zoolock-conformance -p zoolock-interop >&2
build_drivers "$work"
peers=$target/peers

# Short-lived programs start faster so, and Curator tells every change of its connection otherwise.
java="java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -Dorg.slf4j.simpleLogger.defaultLogLevel=error"
java="$java -cp $peers/curator/classes:$peers/curator/jars/* zoolock.peers.Driver"
drivers=(
  --driver c="$work/driver-c"
  --driver python="$ZOOLOCK_PYTHON $drivers/python/driver.py"
  --driver node="node $drivers/node/driver.mjs"
  --without rust-blocking
  --peer curator="$java"
  --peer curator-leader="$java leader"
  --peer kazoo="$peers/kazoo/bin/python tests/peers/kazoo/driver.py"
  --peer go="$peers/go/bin/driver"
)

# What Debian's older versions cannot do, and those here can.
if [ "$(cat "$peers/curator/fetched")" = debian ]; then
  # Up to 5.4 the reader of a downgrade queues behind everybody.
  echo "Curator is Debian's here, and is left out of downgrades"
  drivers+=(--cannot curator=downgrade)
fi
if [ "$(cat "$peers/go/fetched")" = debian ]; then
  # It fails at every name in which no number follows a dash.
  echo "go-zookeeper is Debian's here, and is left out where kazoo is"
  drivers+=(--cannot go=with_kazoo)
fi

minutes=1
if [ "${1-}" = --crowds ]; then
  shift
  exec "$target/release/interop" "${drivers[@]}" --part r01_r07 "$@"
elif [ "${1-}" = --minutes ]; then
  minutes=$2
elif [ $# -gt 0 ]; then
  exec "$target/release/conformance" --folder tests/interop/scenarios --suite interop "${drivers[@]}" "$@"
fi

# Each ends in a line of counts, which are added up here.
outputs=$target/interop
mkdir -p "$outputs"
status=0
"$target/release/conformance" --folder tests/interop/scenarios --suite interop "${drivers[@]}" | tee "$outputs/scenarios.txt" || status=1
"$target/release/interop" --minutes "$minutes" "${drivers[@]}" | tee "$outputs/crowds.txt" || status=1
awk '/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; counted++ }
  END { printf "%d passed, %d failed\n", passed, failed; exit counted != 2 || failed > 0 || passed == 0 }' \
  "$outputs/scenarios.txt" "$outputs/crowds.txt" || status=1
exit $status
