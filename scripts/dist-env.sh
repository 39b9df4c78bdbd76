# Sourced by the scripts of `make dist`: what all artefacts are built with.
# shellcheck shell=bash disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

VERSION=$(sed -n '/^\[workspace\.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
HOST=$(rustc -vV | sed -n 's/^host: //p')
DIST=$TARGET/dist
# Pinned tools, and what the checks need.
TOOLS=$TARGET/dist-tools
# Built apart: the names of folders in it are other ones than in what is built for the tests.
BUILT=$TARGET/dist-build
export CARGO_TARGET_DIR=$BUILT

# Times in archives are those of the last commit, so that the same sources make the same files.
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 1735689600)
fi
export SOURCE_DATE_EPOCH

# No path of the machine that builds gets into what is built: neither by messages of panics nor by those of C's asserts.
rename_paths() {
    local prefix flags=() c_flags=()
    rename() { # PREFIX NAME
        flags+=("--remap-path-prefix=$1=$2")
        c_flags+=("-ffile-prefix-map=$1=$2")
    }
    rename "$ROOT" /zoolock
    rename "$TARGET" /zoolock/target
    for prefix in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do rename "${prefix%/}" /crates; done
    CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}")
    CFLAGS="${c_flags[*]}"
    export CARGO_ENCODED_RUSTFLAGS CFLAGS
}

# The virtual environment of the tools; a part of it that is there already is not fetched again.
tools() {
    [ -x "$TOOLS/bin/python" ] || python3 -m venv "$TOOLS"
    # maturin is the one that the tests use.
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$TOOLS/bin/pip" install --quiet \
        "$(grep '^maturin==' py/tests/requirements.txt)" --requirement tests/packaging/requirements.txt
    export PATH=$TOOLS/bin:$PATH
}
