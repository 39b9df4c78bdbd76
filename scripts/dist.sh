#!/usr/bin/env bash
# `make dist`: builds every artefact into target/dist. Arguments: the parts to build, of sbom, crates, sdist, wheel, node and c;
# all if none.
set -euo pipefail
. "$(dirname "$0")/dist-env.sh"

parts=("$@")
[ $# -gt 0 ] || parts=(sbom crates sdist wheel node c)
scripts/tools.sh --without-java >&2
if [ $# = 0 ]; then rm -rf "$DIST"; fi
mkdir -p "$DIST"
cargo fetch --quiet --locked
tools
for part in "${parts[@]}"; do
    echo "== $part" >&2
    # shellcheck source=/dev/null
    . "scripts/dist-$part.sh"
done
(cd "$DIST" && rm -f SHA256SUMS && sha256sum -- * >"$TARGET/SHA256SUMS" && mv "$TARGET/SHA256SUMS" .)
ls -l "$DIST" >&2
