#!/usr/bin/env python3
"""The documents of tutti as a static site with a search, which works from a folder without a server or network:

    packaging/docs/site_pages.py --program build/release/tutti --output build/docs

It holds every Markdown file of the repository, what they link to, and reference pages made from `tutti --help`. A link
that leads nowhere is an error. Needs Python's standard library alone. `make docs` calls it.
"""

import argparse
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import help_text
import markdown

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# Linked files that are copied into the site are at most this large; others are named without a link.
LARGEST_COPY = 2 << 20
# (title, which pages). The first that matches takes a page; the order is that of the menu.
GROUPS = [
    ("Start", r"README\.md|docs/(install|newcomer|concepts|flow|commands|policies|limitations)\.md"),
    ("Guides", r"docs/[^/]*\.md"),
    ("Examples", r"examples/.*"),
    ("Commands", r"reference/.*"),
    ("Formats", r"docs/formats/.*"),
    ("Releases", r"docs/releases/.*|CHANGELOG\.md"),
    ("Results", r"docs/results/[^/]*\.md"),
    ("Notebook", r"docs/results/.*"),
    ("Decisions", r"docs/adr/.*"),
    ("Development", r".*"),
]
FIRST = ["README.md", "docs/install.md", "docs/newcomer.md", "docs/concepts.md", "docs/flow.md"]


class SiteError(Exception):
    pass


def documents():
    """Paths of all Markdown files, from git, or by looking in an unpacked archive."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "*.md"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        paths = listed.stdout.split("\n")
    else:
        paths = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.md")
                 if "node_modules" not in path.parts and "build" not in path.parts]
    return sorted(path for path in paths if path and (ROOT / path).is_file())


def address_of(path):
    """The page of a document: README.md is the folder's index."""
    folder, name = posixpath.split(path)
    return posixpath.join(folder, "index.html" if name == "README.md" else name[:-len(".md")] + ".html")


def escape_cell(text):
    return text.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*").replace("_", "\\_")


def reference_page(command):
    """A command and all below it, as Markdown."""
    lines = []
    for one in command.all():
        depth = "#" * min(len(one.path), 3)
        lines += [f"{depth} {one.name}", "", one.what, "", "```", one.usage, "```", ""]
        below = {next_one.path[-1] for next_one in one.below}
        for section in one.sections:
            head = "sub-command" if below and all(name in below for name, _ in section.entries) else section.title.lower()
            lines += [f"| {escape_cell(head)} | |", "|---|---|"]
            lines += [f"| `{name.replace('|', chr(92) + '|')}` | {escape_cell(what)} |" for name, what in section.entries] + [""]
        for title, texts in one.notes:
            if title in help_text.VERBATIM:
                lines += [f"{title}:", "", "```", *texts, "```", ""]
            else:
                lines += [escape_cell(f"{title}: " if title else "") + escape_cell(" ".join(texts)), ""]
    return "\n".join(lines)


def reference_pages(program):
    root = help_text.read(program)
    pages = {f"reference/{command.path[0]}.md": reference_page(command) for command in root.below}
    rows = [f"| [{command.name}]({command.path[0]}.md) | {escape_cell(command.what)} |" for command in root.below]
    notes = [f"{title}: {' '.join(texts)}" for title, texts in root.notes if title not in help_text.VERBATIM]
    pages["reference/README.md"] = "\n".join(
        ["# Reference of all commands", "", "Made from `tutti --help`.", "", "| command | what it does |", "|---|---|", *rows, "",
         *notes, ""])
    return pages


class Site:
    def __init__(self, output, texts):
        self.output = output
        self.texts = texts  # by path
        self.pages = {}
        self.copies = set()
        self.wrong = []

    def link_from(self, path):
        folder = posixpath.dirname(path)
        start = posixpath.dirname(address_of(path)) or "."

        def relative(address):
            return posixpath.relpath(address, start)

        def link(target, is_picture):
            if re.match(r"[a-z]+:", target):
                return target
            name, _, part = target.partition("#")
            if not name:
                return "#" + part
            found = posixpath.normpath(posixpath.join(folder, name))
            if found.startswith("../"):
                return None  # beside the repository
            end = "#" + part if part else ""
            for document in (found, posixpath.join(found, "README.md")):
                if document in self.texts:
                    return relative(address_of(document)) + end
            source = ROOT / found
            if not source.exists():
                self.wrong.append(f"{path}: links to {target}, which does not exist")
                return None
            if source.is_dir() or source.stat().st_size > LARGEST_COPY:
                return None
            self.copies.add((found, is_picture))
            # A browser shows text whatever the name of the file is.
            return relative(found if is_picture or found.endswith((".svg", ".png", ".txt")) else found + ".txt")

        return link

    def read_all(self):
        for path, text in self.texts.items():
            self.pages[path] = markdown.Page(text, self.link_from(path))
        known = {path: {name for _, _, name in page.headings} for path, page in self.pages.items()}
        for path, page in self.pages.items():
            for address in re.findall(r'href="([^"]*)#([^"]+)"', page.html):
                target = path if not address[0] else self.path_of(path, address[0])
                if target in known and html.unescape(address[1]) not in known[target]:
                    self.wrong.append(f"{path}: {target} has no heading #{address[1]}")
        if self.wrong:
            raise SiteError("\n".join(sorted(set(self.wrong))))

    def path_of(self, path, address):
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(address_of(path)), address))
        return next((document for document in self.texts if address_of(document) == whole), None)

    def menu(self):
        """[(title, [paths])], every page once."""
        groups = [(title, []) for title, _ in GROUPS]
        for path in self.pages:
            at = next(i for i, (_, pattern) in enumerate(GROUPS) if re.fullmatch(pattern, path))
            groups[at][1].append(path)
        for _, paths in groups:
            # In a group: what comes first to a newcomer, then the folder's own page, then by name.
            paths.sort(key=lambda path: (FIRST.index(path) if path in FIRST else len(FIRST), not path.endswith("README.md"), path))
        return [(title, paths) for title, paths in groups if paths]

    def title_of(self, path):
        return self.pages[path].title or path

    def menu_for(self, path, menu):
        start = posixpath.dirname(address_of(path)) or "."
        lines = []
        for title, paths in menu:
            is_open = " open" if path in paths or title in ("Start", "Guides") else ""
            lines.append(f"<details{is_open}><summary>{title}</summary><ul>")
            for other in paths:
                here = ' aria-current="page"' if other == path else ""
                lines.append(f'<li><a{here} href="{posixpath.relpath(address_of(other), start)}">{html.escape(self.title_of(other))}</a></li>')
            lines.append("</ul></details>")
        return "\n".join(lines)

    def write(self, version):
        template = (HERE / "page.html").read_text(encoding="utf-8")
        menu = self.menu()
        for path, page in self.pages.items():
            up = posixpath.relpath(".", posixpath.dirname(address_of(path)) or ".")
            parts = [f'<li class="l{level}"><a href="#{name}">{html.escape(text)}</a></li>'
                     for level, text, name in page.headings if level in (2, 3)]
            values = {"TITLE": html.escape(self.title_of(path)), "ROOT": up, "MENU": self.menu_for(path, menu), "BODY": page.html,
                      "PARTS": "<ul>" + "".join(parts) + "</ul>" if len(parts) > 1 else "", "VERSION": html.escape(version),
                      "PATH": html.escape(path)}
            target = self.output / address_of(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template), encoding="utf-8")
        for name in ("site.css", "site.js"):
            shutil.copyfile(HERE / name, self.output / name)
        for path, is_picture in self.copies:
            plain = is_picture or path.endswith((".svg", ".png", ".txt"))
            target = self.output / (path if plain else path + ".txt")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)
        self.write_index(menu)

    def write_index(self, menu):
        """For the search: [page title, address, group, [[heading, anchor, text], ...]], as a script, which browsers
        load from files too."""
        rows = []
        for title, paths in menu:
            for path in paths:
                parts = [[heading, name, text] for heading, name, text in self.pages[path].parts if heading or text]
                rows.append([self.title_of(path), address_of(path), title, parts])
        text = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("\u2028", " ").replace("\u2029", " ")
        (self.output / "search_index.js").write_text(f"window.tuttiPages={text};\n", encoding="utf-8")


def make(program, version, output):
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in documents()}
    texts.update(reference_pages(program))
    fresh = output.with_name(output.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    site = Site(fresh, texts)
    site.read_all()
    fresh.mkdir(parents=True)
    site.write(version)
    shutil.rmtree(output, ignore_errors=True)
    os.replace(fresh, output)
    return site


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, help="the program tutti")
    parser.add_argument("--output", required=True, type=Path, help="the folder of the site; it is replaced")
    given = parser.parse_args()
    output = given.output.resolve()
    if output.exists() and not (output / "search_index.js").exists() and any(output.iterdir()):
        sys.exit(f"packaging/docs/site_pages.py: {output} holds something else than a site; name another folder")
    try:
        program = os.path.abspath(given.program)
        site = make(program, help_text.version_of(program), output)
    except (SiteError, OSError, ValueError) as error:
        sys.exit(f"packaging/docs/site_pages.py: {error}")
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    print(f"{len(site.pages)} pages, {size / 1e6:.1f} MB: {output / 'index.html'}")


if __name__ == "__main__":
    main()
