# Sourced by the scripts of `make dist`: what all artefacts are built with.
# shellcheck shell=bash disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
. scripts/rename-paths.sh

VERSION=$(sed -n '/^\[workspace\.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
HOST=$(rustc -vV | sed -n 's/^host: //p')
DIST=$TARGET/dist
# Pinned tools, and what the checks need.
TOOLS=$TARGET/dist-tools
# Built apart, unless all is built with the names that artefacts have.
BUILT=$TARGET/dist-build
if [ -n "${ZOOLOCK_PATHS_RENAMED-}" ]; then BUILT=$TARGET; fi
export CARGO_TARGET_DIR=$BUILT

# The virtual environment of the tools; a part of it that is there already is not fetched again.
tools() {
    [ -x "$TOOLS/bin/python" ] || python3 -m venv "$TOOLS"
    # maturin is the one that the tests use.
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$TOOLS/bin/pip" install --quiet \
        "$(grep '^maturin==' py/tests/requirements.txt)" --requirement tests/packaging/requirements.txt
    export PATH=$TOOLS/bin:$PATH
}
