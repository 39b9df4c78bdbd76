"""Copies the docstrings of the compiled module into its stub, where editors look for them.

python stub_docs.py            # rewrites python/zoolock/_native.pyi
python stub_docs.py --check    # fails if that would change it
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

from zoolock import _native

STUB = Path(__file__).parent / "python/zoolock/_native.pyi"
INDENT = "    "


def documented(stub: str) -> str:
    """Return the stub with the module's docstrings, and no others."""
    lines = stub.splitlines()
    # From the end, so that the places of what is before stay true.
    for node, thing in reversed(_pairs(ast.parse(stub).body, _native)):
        body = node.body[0]
        decorators = getattr(body, "decorator_list", [])
        first = (decorators[0] if decorators else body).lineno - 1
        if ast.get_docstring(node) is not None:
            del lines[first : body.end_lineno]
        doc = _doc(node, thing)
        if doc is None:
            continue
        indent = " " * (node.col_offset + 4)
        if isinstance(body, ast.Expr) and lines[first].endswith(": ..."):
            lines[first] = lines[first].removesuffix(" ...")
            first += 1
        lines[first:first] = [f"{indent}{line}".rstrip() for line in _quoted(doc)]
    return "\n".join(lines) + "\n"


def _pairs(
    body: list[ast.stmt], owner: object
) -> list[tuple[ast.ClassDef | ast.FunctionDef, object]]:
    found: list[tuple[ast.ClassDef | ast.FunctionDef, object]] = []
    for node in body:
        if isinstance(node, ast.ClassDef):
            kind = getattr(owner, node.name)
            found.append((node, kind))
            found += _pairs(node.body, kind)
        elif isinstance(node, ast.FunctionDef):
            found.append((node, inspect.getattr_static(owner, node.name)))
    return found


def _doc(node: ast.ClassDef | ast.FunctionDef, thing: object) -> str | None:
    # The texts of slots such as `__enter__` are the interpreter's own.
    if node.name.startswith("__"):
        return None
    return inspect.cleandoc(thing.__doc__) if thing.__doc__ else None


def _quoted(doc: str) -> list[str]:
    space = " " if doc.startswith('"') else ""
    first, *others = doc.replace("\\", "\\\\").splitlines()
    if others or first.endswith('"'):
        return [f'"""{space}{first}', *others, '"""']
    return [f'"""{space}{first}"""']


def outdated(stub: str) -> list[str]:
    """Return the names whose docstrings are not the module's."""
    pairs = _pairs(ast.parse(stub).body, _native)
    return [
        node.name
        for node, thing in pairs
        if (ast.get_docstring(node) or "").strip() != (_doc(node, thing) or "").strip()
    ]


def main() -> int:
    """Rewrite or check the stub; the exit status."""
    stub = STUB.read_text(encoding="utf-8")
    if "--check" not in sys.argv:
        STUB.write_text(documented(stub), encoding="utf-8")
        return 0
    names = outdated(stub)
    if names:
        print(f"run stub_docs.py: other docstrings than the module has: {', '.join(names)}")
    return int(bool(names))


if __name__ == "__main__":
    sys.exit(main())
