#!/usr/bin/env python3
"""What man pages, reference and site promise: manual_test.py PROGRAM SITE. They are made of what PROGRAM prints; the site
stays in SITE, where web/test/site_test.mjs uses it in a browser."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "packaging" / "docs"
sys.path.insert(0, str(DOCS))
sys.dont_write_bytecode = True

import help_text  # noqa: E402
import markdown  # noqa: E402
import site_pages  # noqa: E402

PROGRAM, SITE = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()


class HelpTexts(unittest.TestCase):
    def test_every_flag_of_every_command_is_read(self):
        root = help_text.read(PROGRAM)
        count = 0
        for command in root.all():
            text = help_text.help_of(PROGRAM, command.path)
            if text is None:
                continue  # a companion program that is not built
            flags = set(re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)", text, re.M))
            read = {flag for section in command.sections for name, _ in section.entries for flag in re.findall(r"^(?:-\w, )?(--[\w-]+)", name)}
            self.assertLessEqual(flags, read, command.name)
            for section in command.sections:
                for name, what in section.entries:
                    self.assertEqual(name.count("["), name.count("]"), f"{command.name}: {name}")
                    count += bool(what)
        self.assertGreater(count, 300)

    def test_long_names_and_names_that_just_fit_are_told_apart(self):
        text = """Does it
Usage: tutti it [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --noise FLOAT:FLOAT in [0 - 10]
                              Spread
  -m,--machine TEXT=this-host Machine

Example: tutti it -m x
"""
        command = help_text.parse(("it",), text)
        self.assertEqual(command.sections[0].entries[1:], [("--noise FLOAT:FLOAT in [0 - 10]", "Spread"), ("-m,--machine TEXT=this-host", "Machine")])
        self.assertEqual(command.notes, [("Example", ["tutti it -m x"])])


class ManPages(unittest.TestCase):
    def test_every_command_has_one_and_groff_has_no_complaint(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, DOCS / "manual.py", PROGRAM, folder], check=True)
            pages = {file.name for file in Path(folder).iterdir()}
            expected = {"-".join(("tutti",) + command.path) + ".1" for command in help_text.read(PROGRAM).all()}
            self.assertEqual(pages, expected)
            if shutil.which("groff"):
                for page in sorted(pages):
                    made = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-P-cbou", Path(folder) / page], capture_output=True, text=True, check=True)
                    self.assertEqual(made.stderr, "", page)
                    self.assertIn("NAME", made.stdout)


def to_html(text):
    return markdown.Page(text, lambda target, is_picture: target).html


class Markdown(unittest.TestCase):
    def test_tables_code_lists_and_links(self):
        self.assertEqual(to_html("a `<b>` **c** *d* [e](f.md) 2 * 3 * 4"),
                         '<p>a <code>&lt;b&gt;</code> <strong>c</strong> <em>d</em> <a href="f.md">e</a> 2 * 3 * 4</p>')
        self.assertIn("<td><code>a|b</code></td>", to_html("| x |\n|---|\n| `a\\|b` |"))
        self.assertIn('<td class="number">1</td>', to_html("| x |\n|--:|\n| 1 |"))
        self.assertEqual(to_html("- a\n  - b\n- c").replace("\n", ""), "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>")
        self.assertEqual(to_html("```\n**x** <y>\n```"), "<pre><code>**x** &lt;y&gt;</code></pre>")
        self.assertEqual(to_html("<script>alert(1)</script>"), "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>")

    def test_headings_have_the_names_that_github_gives(self):
        page = markdown.Page("# A `b`: c, d\n\n## x\n\n## x\n", lambda *_: None)
        self.assertEqual([name for _, _, name in page.headings], ["a-b-c-d", "x", "x-1"])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = subprocess.run([sys.executable, DOCS / "site_pages.py", "--program", PROGRAM, "--output", SITE],
                              capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr

    def test_every_document_and_command_is_a_page_that_the_search_knows(self):
        text = (SITE / "search_index.js").read_text(encoding="utf-8")
        rows = json.loads(text[len("window.tuttiPages="):].rstrip().rstrip(";"))
        known = {row[1] for row in rows}
        for path in site_pages.documents():
            self.assertIn(site_pages.address_of(path), known)
        for command in help_text.read(PROGRAM).below:
            self.assertIn(f"reference/{command.path[0]}.html", known)
        for address in known:
            self.assertTrue((SITE / address).is_file(), address)

    def test_every_link_leads_to_a_file_of_the_site(self):
        count = 0
        for page in SITE.rglob("*.html"):
            for address in re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8")):
                if re.match("[a-z]+:", address):
                    continue
                self.assertTrue((page.parent / address).resolve().is_relative_to(SITE), f"{page}: {address}")
                self.assertTrue((page.parent / address).exists(), f"{page}: {address}")
                count += 1
        self.assertGreater(count, 5000)

    def test_links_that_lead_nowhere_are_refused(self):
        for text, what in [("[a](missing.md)", "missing.md"), ("[a](#nowhere)", "nowhere"), ("[a](b.md#nowhere)", "nowhere")]:
            site = site_pages.Site(SITE, {"docs/a.md": text, "docs/b.md": "# B\n"})
            with self.assertRaisesRegex(site_pages.SiteError, what):
                site.read_all()

    def test_a_folder_with_other_files_is_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "mine").write_text("kept")
            ran = subprocess.run([sys.executable, DOCS / "site_pages.py", "--program", PROGRAM, "--output", folder],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("holds something else", ran.stderr)
            self.assertEqual((Path(folder) / "mine").read_text(), "kept")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
