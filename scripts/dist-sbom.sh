# Sourced by dist.sh. What is in each artefact, in CycloneDX's format. The wheel carries its own, too (PEP 770).
# shellcheck shell=bash
rm -f "$DIST"/*.cdx.json
"$TOOLS/bin/python" scripts/sbom.py "$DIST" "$HOST"
