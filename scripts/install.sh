#!/usr/bin/env bash
# `make install` and `make uninstall`: the C and C++ library with its headers, pkg-config file, CMake package and docs, below
# DESTDIR/PREFIX. LIBDIR, INCLUDEDIR and DOCDIR are folders below PREFIX. What is installed finds its parts from its own
# place, so that the prefix may be moved.
# Usage: install.sh install|uninstall PREFIX=… [DESTDIR=…] [LIBDIR=…] [INCLUDEDIR=…] [DOCDIR=…]
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

action=${1-}
shift || true
PREFIX=/usr/local DESTDIR='' LIBDIR=lib INCLUDEDIR=include DOCDIR=share/doc/zoolock
for argument in "$@"; do
    case $argument in
    PREFIX=?* | LIBDIR=?* | INCLUDEDIR=?* | DOCDIR=?* | DESTDIR=*) declare "${argument%%=*}=${argument#*=}" ;;
    *)
        echo "not understood, or empty: $argument" >&2
        exit 2
        ;;
    esac
done
case $PREFIX in
/*) ;;
*)
    echo "PREFIX has to be an absolute path, which $PREFIX is not" >&2
    exit 2
    ;;
esac
PREFIX=${PREFIX%/}
for folder in LIBDIR INCLUDEDIR DOCDIR; do
    # Also given in full, as distributions do.
    if [ -n "$PREFIX" ]; then declare "$folder=${!folder#"$PREFIX"/}"; fi
    case ${!folder} in
    /* | .. | ../* | */.. | */../*)
        echo "$folder has to be below PREFIX, which ${!folder} is not" >&2
        exit 2
        ;;
    esac
done
root=${DESTDIR%/}$PREFIX
lib=$root/$LIBDIR

version=$(sed -n '/^\[workspace\.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
built=$TARGET/release

# Besides the README of the C and C++ library.
docs=(LICENSE-APACHE LICENSE-MIT CHANGELOG.md)

up() { # FOLDER: the way from it to the prefix
    local up='' part
    local IFS=/
    for part in $1; do
        case $part in '' | .) ;; *) up=$up../ ;; esac
    done
    echo "${up%/}"
}

fill() { # TEMPLATE TO
    local private list major minor rest
    private=$(cat ffi-c/package/private-libs)
    list=${private//-l/}
    IFS=. read -r major minor rest <<<"$version"
    : "$rest"
    sed -e "s|@VERSION@|$version|g" -e "s|@VERSION_MAJOR@|$major|g" -e "s|@VERSION_MINOR@|$minor|g" \
        -e "s|@LIBDIR@|$LIBDIR|g" -e "s|@INCLUDEDIR@|$INCLUDEDIR|g" \
        -e "s|@PC_TO_PREFIX@|$(up "$LIBDIR/pkgconfig")|g" -e "s|@CMAKE_TO_PREFIX@|$(up "$LIBDIR/cmake/zoolock")|g" \
        -e "s|@SONAME@|$soname|g" -e "s|@SONAME_FILE@|$file|g" -e "s|@POINTER_SIZE@|$(($(getconf LONG_BIT) / 8))|g" \
        -e "s|@PRIVATE_LIBS@|$private|g" -e "s|@PRIVATE_LIBS_LIST@|${list// /;}|g" "$1" >"$work/filled"
    install -m 644 "$work/filled" "$2"
}

install_all() {
    cargo build --release --quiet -p zoolock-c
    # The library itself says what it is called.
    soname=$(LC_ALL=C readelf -d "$built/libzoolock.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
    file=${soname%%.so*}.so.$version
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT

    install -d "$lib/pkgconfig" "$lib/cmake/zoolock" "$root/$INCLUDEDIR" "$root/$DOCDIR"
    install -m 755 "$built/libzoolock.so" "$lib/$file"
    ln -sf "$file" "$lib/$soname"
    ln -sf "$soname" "$lib/libzoolock.so"
    install -m 644 "$built/libzoolock.a" "$lib/libzoolock.a"
    fill ffi-c/package/zoolock.pc.in "$lib/pkgconfig/zoolock.pc"
    fill ffi-c/package/zoolockConfig.cmake.in "$lib/cmake/zoolock/zoolockConfig.cmake"
    fill ffi-c/package/zoolockConfigVersion.cmake.in "$lib/cmake/zoolock/zoolockConfigVersion.cmake"

    local header
    while read -r header; do
        install -D -m 644 "include/$header" "$root/$INCLUDEDIR/$header"
    done < <(headers)
    install -m 644 "${docs[@]}" "$root/$DOCDIR/"
    install -m 644 ffi-c/README.md "$root/$DOCDIR/README.md"
    install -d "$root/$DOCDIR/examples"
    install -m 644 ffi-c/examples/*.c* "$root/$DOCDIR/examples/"
    if [ -z "$DESTDIR" ] && [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then
        # For loaders that look in this folder; elsewhere it does no harm.
        ldconfig || echo "ldconfig failed: the loader may not find the library yet" >&2
    fi
    echo "zoolock $version is installed in $root"
}

headers() { (cd include && find . -name '*.h' -o -name '*.hpp') | sed 's|^\./||' | sort; }

uninstall_all() {
    local header
    rm -f "$lib"/libzoolock.so "$lib"/libzoolock.so.[0-9]* "$lib/libzoolock.a" "$lib/pkgconfig/zoolock.pc"
    rm -rf "$lib/cmake/zoolock" "${root:?}/${DOCDIR:?}"
    while read -r header; do rm -f "$root/$INCLUDEDIR/$header"; done < <(headers)
    if [ -d "$root/$INCLUDEDIR/zoolock" ]; then rmdir --ignore-fail-on-non-empty "$root/$INCLUDEDIR/zoolock"; fi
    echo "zoolock is removed from $root"
}

case $action in
install) install_all ;;
uninstall) uninstall_all ;;
*)
    echo "usage: install.sh install|uninstall PREFIX=… [DESTDIR=…]" >&2
    exit 2
    ;;
esac
