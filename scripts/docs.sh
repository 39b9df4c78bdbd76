#!/usr/bin/env bash
# `make docs`: builds the site into target/docs and checks its links. Every warning is an error.
set -euo pipefail
. "$(dirname "$0")/env.sh"

scripts/tools.sh --without-java >&2
venv=$TARGET/docs-venv
if [ ! -e "$venv/installed" ] || [ docs/requirements.txt -nt "$venv/installed" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r docs/requirements.txt
    touch "$venv/installed"
fi
# From scratch: a page that is gone should not stay.
rm -rf "$TARGET/docs"
"$venv/bin/sphinx-build" --quiet --fail-on-warning --keep-going --fresh-env -d "$TARGET/docs-doctrees" docs "$TARGET/docs"
"$venv/bin/python" docs/check/links.py "$TARGET/docs"
echo "The site is $TARGET/docs/index.html"
