#!/usr/bin/env bash
# Builds the site, checks its links, and runs the code of its pages against an embedded server. Arguments: pages, such
# as `start/python`; all if none. ZOOLOCK_TEST_REPORT names a file that gets a line per test.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/../scripts/env.sh"

if [ -z "${ZOOLOCK_C_LIB-}" ] || [ -z "${ZOOLOCK_PYTHON-}" ] || [ -z "${ZOOLOCK_NODE-}" ]; then
    scripts/build.sh --without-java >&2
fi
: "${ZOOLOCK_C_LIB:=$TARGET/release}" "${ZOOLOCK_PYTHON:=$PYTHON}" "${ZOOLOCK_NODE:=$ROOT/node}"
export ZOOLOCK_C_LIB ZOOLOCK_PYTHON ZOOLOCK_NODE

site=ok
scripts/docs.sh || site=FAIL
echo "$site docs the_site_builds_and_its_links_lead_somewhere"
if [ -n "${ZOOLOCK_TEST_REPORT-}" ]; then
    echo "$site docs the_site_builds_and_its_links_lead_somewhere" >>"$ZOOLOCK_TEST_REPORT"
fi
export ZOOLOCK_DOCS_SITE=$site
exec "$ZOOLOCK_PYTHON" docs/check/run.py "$@"
