# Sourced by dist.sh. C and C++: what `make install` installs, packed so that it may be unpacked anywhere.
# shellcheck shell=bash
name=zoolock-c-$VERSION-$HOST
staged=$BUILT/c
rm -rf "$staged" "$DIST"/zoolock-c-*.tar.gz
(
    rename_paths
    make --no-print-directory install PREFIX="/$name" DESTDIR="$staged"
) >&2
tar -C "$staged" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
    gzip -n -9 >"$DIST/$name.tar.gz"
