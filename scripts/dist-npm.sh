#!/usr/bin/env bash
# Packs the npm packages: the main one, and one for each platform whose addon is there, by napi's own commands, which
# refuse a release that lacks what it names.
# Usage: dist-npm.sh ADDONS WORK OUT: folders with the files zoolock.PLATFORM.node, to work in, and for the packages.
set -euo pipefail
. "$(dirname "$0")/env.sh"
addons=$1 work=$2 out=$3
PATH=$ROOT/node/node_modules/.bin:$PATH

# package.json is changed for the registry: here, not in the sources.
rm -rf "$work"
mkdir -p "$work" "$out"
tar -C node --exclude=./node_modules --exclude=./src --exclude=./test --exclude='*.node' -cf - . | tar -C "$work" -xf -
cp -R "$addons" "$work/artifacts"
cd "$work"
# Of the targets those that were built; the addon is in the platform's package alone.
NODE_PATH=$ROOT/node/node_modules node -e '
const { readdirSync, readFileSync, writeFileSync } = require("node:fs")
const { parseTriple } = require("@napi-rs/cli")
const manifest = JSON.parse(readFileSync("package.json", "utf8"))
const built = readdirSync("artifacts")
manifest.napi.targets = manifest.napi.targets.filter((target) =>
  built.includes(`zoolock.${parseTriple(target).platformArchABI}.node`))
manifest.files = manifest.files.filter((name) => name !== "*.node")
writeFileSync("package.json", JSON.stringify(manifest, null, 2) + "\n")
'
napi create-npm-dirs
napi artifacts --output-dir artifacts --npm-dir npm
for platform in npm/*/; do
    cp LICENSE-APACHE LICENSE-MIT "$platform"
    (cd "$platform" && npm pkg set 'files[]=LICENSE-APACHE' 'files[]=LICENSE-MIT')
done
napi pre-publish --tag-style npm --no-gh-release --skip-optional-publish
# Who installs it builds nothing.
npm pkg delete scripts devDependencies napi
for package in npm/*/ ./; do npm pack --silent --pack-destination "$out" "./$package"; done
