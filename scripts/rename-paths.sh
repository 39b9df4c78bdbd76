# Sourced after env.sh. Replaces the names of this machine's folders in all that is built from then on: in messages of
# panics, and in those of C's asserts.
# shellcheck shell=bash
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
