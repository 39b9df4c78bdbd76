#!/bin/sh
# Types, style and format of the Python package, its tests and its examples.
set -eu
. "$(dirname "$0")/env.sh"
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
.venv/bin/pyright
.venv/bin/python stub_docs.py --check
