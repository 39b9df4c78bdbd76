# Sourced after env.sh. Replaces the names of this machine's folders in all that is built from then on: in messages of
# panics, and in those of C's asserts.
# shellcheck shell=bash

# Times in artefacts are those of the last commit, so that the same sources make the same files. Set with the names, not
# later: what is compiled in C is compiled anew for another time, and with it all that needs it.
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 1735689600)
fi
export SOURCE_DATE_EPOCH

rename_paths() {
    if [ -n "${ZOOLOCK_PATHS_RENAMED-}" ]; then return; fi
    # The sources of the crates have to be there for their folders to be known.
    cargo fetch --quiet --locked
    local folder flags=() c_flags=()
    rename() { # PREFIX NAME
        flags+=("--remap-path-prefix=$1=$2")
        c_flags+=("-ffile-prefix-map=$1=$2")
    }
    rename "$ROOT" /zoolock
    rename "$TARGET" /zoolock/target
    for folder in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do rename "${folder%/}" /crates; done
    # Not the encoded form, so that who has flags of their own can replace these.
    RUSTFLAGS="${flags[*]}"
    CFLAGS="${c_flags[*]}"
    export RUSTFLAGS CFLAGS ZOOLOCK_PATHS_RENAMED=yes
}
