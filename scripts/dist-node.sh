# Sourced by dist.sh. Node: the package, and one with the addon of this platform, which the first one names among its
# optional dependencies.
# shellcheck shell=bash
rm -rf "$BUILT/addons" "$DIST"/zoolock-*.tgz
[ -d node/node_modules ] || (cd node && npm ci --no-audit --no-fund --loglevel=error)
(
    rename_paths
    cd node || exit
    npx --no-install napi build --release --platform --js native.js --dts native.d.ts --output-dir "$BUILT/addons"
) >&2
scripts/dist-npm.sh "$BUILT/addons" "$BUILT/npm" "$DIST" >&2
