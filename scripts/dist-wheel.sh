# Sourced by dist.sh, after dist-sbom.sh. Python's wheel, for all CPythons. Its tag is the oldest manylinux that maturin's
# audit of the symbols allows.
# shellcheck shell=bash
rm -f "$DIST"/zoolock-*.whl
(
    rename_paths
    # The one that the tests use, if it is there: for another one all would be compiled again, to the same wheel.
    interpreter=python
    if [ -x "$PYTHON" ]; then interpreter=$PYTHON; fi
    maturin build --quiet --release --locked --manifest-path py/Cargo.toml --interpreter "$interpreter" --out "$DIST" \
        --sbom-include "$DIST/zoolock-$VERSION-python.cdx.json"
)
