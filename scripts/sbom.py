"""Writes a CycloneDX bill of materials for each artefact: the crates that are compiled into it.

What build scripts and procedural macros depend on stays on the machine that builds, and is not
listed.
Usage: sbom.py FOLDER TARGET-TRIPLE
"""

from __future__ import annotations

# What is imported is in the environment that `make dist` makes.
# mypy: disable-error-code="import-not-found"
import json
import os
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import tomli
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]


class Artefact(NamedTuple):
    """What is shipped, and the crate that it is made from."""

    file: str
    crate: str
    purl_type: str
    name: str
    features: tuple[str, ...] = ()


ARTEFACTS = (
    Artefact("python", "zoolock-py", "pypi", "zoolock"),
    Artefact("node", "zoolock-node", "npm", "zoolock"),
    Artefact("c", "zoolock-c", "generic", "zoolock"),
    Artefact("crate", "zoolock", "cargo", "zoolock", ("testing",)),
)
Key = tuple[str, str]


def cargo(*arguments: str) -> str:
    command = ["cargo", *arguments]
    return subprocess.run(  # noqa: S603
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def compiled(artefact: Artefact, triple: str) -> set[Key]:
    """Names and versions of the crates that are in it, itself among them."""
    options = ["--package", artefact.crate, "--target", triple, "--edges", "normal,no-proc-macro"]
    if artefact.features:
        options += ["--features", ",".join(artefact.features)]
    tree = cargo("tree", "--locked", *options, "--prefix", "none", "--format", "{p}", "--no-dedupe")
    return {(name, version) for name, version in re.findall(r"^(\S+) v(\S+)", tree, re.MULTILINE)}


def checksums() -> dict[Key, str]:
    lock = tomli.loads((ROOT / "Cargo.lock").read_text())
    return {
        (entry["name"], entry["version"]): entry["checksum"]
        for entry in lock["package"]
        if "checksum" in entry
    }


def component(
    package: dict[str, Any], checksum: str | None, purl: PackageURL | None = None
) -> Component:
    name, version = package["name"], package["version"]
    purl = purl or PackageURL("cargo", name=name, version=version)
    # Older manifests have a slash where an expression has a word.
    licence = re.sub(r"\s*/\s*", " OR ", package["license"] or "")
    return Component(
        type=ComponentType.LIBRARY,
        name=purl.name,
        version=version,
        bom_ref=purl.to_string(),
        purl=purl,
        description=package["description"],
        licenses=[LicenseExpression(licence)] if licence else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else [],
    )


def bill(artefact: Artefact, triple: str) -> Bom:
    metadata = json.loads(
        cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", triple)
    )
    packages = {package["id"]: package for package in metadata["packages"]}
    keys = {key: (package["name"], package["version"]) for key, package in packages.items()}
    inside, sums = compiled(artefact, triple), checksums()
    members = metadata["workspace_members"]
    (root,) = (key for key in members if packages[key]["name"] == artefact.crate)
    purl = PackageURL(artefact.purl_type, name=artefact.name, version=packages[root]["version"])
    components = {
        key: component(package, sums.get(keys[key]), purl if key == root else None)
        for key, package in packages.items()
        if keys[key] in inside
    }
    bom = Bom(components=[part for key, part in components.items() if key != root])
    bom.metadata.component = components[root]
    bom.metadata.timestamp = datetime.fromtimestamp(
        int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc
    )
    bom.metadata.properties = [Property(name="cdx:rustc:sbom:target:triple", value=triple)]
    # The same in each build of the same version.
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"{purl}#{triple}")
    for node in metadata["resolve"]["nodes"]:
        if node["id"] in components:
            needed = [
                components[dependency["pkg"]]
                for dependency in node["deps"]
                if dependency["pkg"] in components
                and any(kind["kind"] is None for kind in dependency["dep_kinds"])
            ]
            bom.register_dependency(components[node["id"]], needed)
    return bom


def main(folder: str, triple: str) -> None:
    for artefact in ARTEFACTS:
        bom = bill(artefact, triple)
        text = JsonV1Dot6(bom).output_as_string(indent=1)
        problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
        if problem:
            sys.exit(f"{artefact.file}: {problem}")
        assert bom.metadata.component is not None
        version = bom.metadata.component.version
        (Path(folder) / f"zoolock-{version}-{artefact.file}.cdx.json").write_text(text + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
