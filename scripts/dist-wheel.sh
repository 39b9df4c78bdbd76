# Sourced by dist.sh, after dist-sbom.sh. Python's wheel, for all CPythons. Its tag is the oldest manylinux that maturin's
# audit of the symbols allows.
# shellcheck shell=bash
rm -f "$DIST"/zoolock-*.whl
(
    rename_paths
    maturin build --quiet --release --locked --manifest-path py/Cargo.toml --out "$DIST" \
        --sbom-include "$DIST/zoolock-$VERSION-python.cdx.json"
)
