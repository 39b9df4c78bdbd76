"""Checks the links of the built site, and those of the project's other Markdown files.

links.py SITE: prints what is wrong, and writes SITE-links.txt, the list of links that lead
elsewhere. Those are checked for their form only.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
MARKDOWN_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
# What a page loads by itself. `a` only leads somewhere.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """The names and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[tuple[bool, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if not value:
                continue
            if key in ("id", "name"):
                self.ids.add(value)
            elif (tag, key) in LOADED or (tag, key) == ("a", "href"):
                self.links.append((tag != "a", value))


def check_site(site: Path, elsewhere: set[str]) -> list[str]:
    problems = []
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    for file, page in pages.items():
        name = file.relative_to(site)
        for loaded, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                elsewhere.add(link)
                if loaded:
                    problems.append(f"{name}: loads {link}, which is not of this site")
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.exists():
                problems.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target in pages and parts.fragment not in pages[target].ids:
                problems.append(f"{name}: {link} has no such heading")
    return problems


def slugs(markdown: Path) -> set[str]:
    """The anchors that a forge makes of a file's headings."""
    found: set[str] = set()
    fenced = False
    for line in markdown.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.match(r"#+ (.*)", line)):
            text = re.sub(r"[^\w\- ]", "", heading[1].strip().lower())
            found.add(text.replace(" ", "-"))
    return found


def check_markdown(files: list[Path], elsewhere: set[str]) -> list[str]:
    problems = []
    for file in files:
        text = re.sub(r"^```.*?^```", "", file.read_text(encoding="utf-8"), flags=re.M | re.S)
        for link in MARKDOWN_LINK.finditer(text):
            parts = urlsplit(link["target"])
            name = f"{file.relative_to(ROOT)}: {link['target']}"
            if parts.scheme:
                elsewhere.add(link["target"])
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.exists():
                problems.append(f"{name} leads nowhere")
            elif parts.fragment and target.suffix == ".md" and parts.fragment not in slugs(target):
                problems.append(f"{name} has no such heading")
    return problems


def is_well_formed(link: str) -> bool:
    parts = urlsplit(link)
    return parts.scheme == "https" and "." in parts.netloc and link.isascii() and " " not in link


def main(site: Path) -> int:
    elsewhere: set[str] = set()
    problems = check_site(site, elsewhere)
    folders = ["", "py", "node", "ffi-c", "examples"]
    markdown = [file for folder in folders for file in sorted((ROOT / folder).glob("*.md"))]
    markdown += sorted((ROOT / "docs").rglob("*.md"))
    problems += check_markdown(markdown, elsewhere)
    problems += [f"malformed: {link}" for link in sorted(elsewhere) if not is_well_formed(link)]
    Path(f"{site}-links.txt").write_text("".join(f"{link}\n" for link in sorted(elsewhere)))
    print("\n".join(problems) or f"all links are good; {len(elsewhere)} lead elsewhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
