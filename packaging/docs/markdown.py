"""Markdown, as the documents of tutti use it, to HTML: headings, paragraphs, lists, tables, fenced code, quotes,
links, pictures, emphasis and code spans. HTML in the text is shown as it is written; comments are left out."""

import html
import re

ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")
CELL = re.compile(r"(?<!\\)\|")


def anchor(heading):
    """The name that GitHub gives to a heading."""
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return "".join(c.lower() if c.isalnum() or c in "-_" else "-" if c == " " else "" for c in plain)


def plain_text(text):
    """What a reader sees of a line, for the search."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[`*]|\\(?=[|_*])", "", text)


class Page:
    """One document. `link(target, is_picture)` gives the address for what a link names, or None if there is none;
    then its text stands alone. Afterwards: `html`, `title`, and `parts`: (heading, anchor, text) for the search."""

    def __init__(self, text, link):
        self._link = link
        self.title = ""
        self.headings = []  # (level, text, anchor)
        self.parts = [("", "", [])]
        self._anchors = {}
        lines = re.sub(r"<!--.*?-->", "", text, flags=re.S).replace("\t", "    ").split("\n")
        self.html = self._blocks(lines)
        self.parts = [(heading, name, " ".join(texts)) for heading, name, texts in self.parts]

    # Parts of a line.

    def _inline(self, text):
        kept = []

        def keep(made):
            kept.append(made)
            return f"\0{len(kept) - 1}\0"

        def code(found):
            return keep(f"<code>{html.escape(found[2].strip())}</code>")

        def picture(found):
            address = self._link(found[2], True)
            if address is None:
                return keep(html.escape(found[1]))
            return keep(f'<img src="{html.escape(address)}" alt="{html.escape(found[1])}">')

        def link(found):
            address = self._link(found[2], False)
            if address is None:
                return found[1]
            return keep(f'<a href="{html.escape(address)}">') + found[1] + keep("</a>")

        text = re.sub(r"(`+)(.+?)\1(?!`)", code, text)
        text = re.sub(r"\\([\\`*_{}\[\]()#+.!|~<>-])", lambda found: keep(html.escape(found[1])), text)
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", picture, text)
        text = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, text)
        text = html.escape(text, quote=False)
        text = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])", r"<em>\1</em>", text)
        while "\0" in text:
            text = re.sub(r"\0(\d+)\0", lambda found: kept[int(found[1])], text)
        return text

    def _say(self, text):
        self.parts[-1][2].append(plain_text(text))

    # Blocks.

    def _blocks(self, lines):
        out = []
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
            elif line.startswith("```"):
                at = self._fence(lines, at, out)
            elif re.match(r"#{1,6} ", line):
                self._heading(line, out)
                at += 1
            elif at + 1 < len(lines) and "|" in line and re.fullmatch(r"\|?( *:?-+:? *\|)+( *:?-+:? *)?", lines[at + 1].strip()):
                at = self._table(lines, at, out)
            elif ITEM.match(line):
                at = self._list(lines, at, out)
            elif line.startswith(">"):
                end = next((i for i in range(at, len(lines)) if not lines[i].startswith(">")), len(lines))
                out.append("<blockquote>" + self._blocks([re.sub("^> ?", "", quoted) for quoted in lines[at:end]]) + "</blockquote>")
                at = end
            elif re.fullmatch(r"(---+|\*\*\*+) *", line):
                out.append("<hr>")
                at += 1
            else:
                at = self._paragraph(lines, at, out)
        return "\n".join(out)

    def _heading(self, line, out):
        level = len(line) - len(line.lstrip("#"))
        text = line[level:].strip()
        name = anchor(text)
        again = self._anchors.get(name, 0)
        self._anchors[name] = again + 1
        name += f"-{again}" if again else ""
        seen = plain_text(text)
        if level == 1 and not self.title:
            self.title = seen
        self.headings.append((level, seen, name))
        self.parts.append((seen, name, []))
        out.append(f'<h{level} id="{name}">{self._inline(text)} <a class="here" href="#{name}" aria-label="Link to this heading">#</a></h{level}>')

    def _fence(self, lines, at, out):
        end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), len(lines))
        text = "\n".join(lines[at + 1:end])
        self._say(text)
        out.append(f"<pre><code>{html.escape(text, quote=False)}</code></pre>")
        return end + 1

    def _cells(self, line):
        line = line.strip()
        line = line[1:] if line.startswith("|") else line
        line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
        # A bar in a code span is written \| too.
        return [cell.strip().replace("\\|", "|") if "`" in cell else cell.strip() for cell in CELL.split(line)]

    def _table(self, lines, at, out):
        right = [rule.strip().endswith(":") for rule in self._cells(lines[at + 1])]

        def row(line, tag):
            cells = self._cells(line)
            self._say(" ".join(cells))
            made = []
            for i, cell in enumerate(cells):
                look = ' class="number"' if i < len(right) and right[i] else ""
                made.append(f"<{tag}{look}>{self._inline(cell)}</{tag}>")
            return "<tr>" + "".join(made) + "</tr>"

        end = next((i for i in range(at + 2, len(lines)) if "|" not in lines[i]), len(lines))
        body = "\n".join(row(line, "td") for line in lines[at + 2:end])
        out.append(f'<div class="wide"><table><thead>{row(lines[at], "th")}</thead>\n<tbody>{body}</tbody></table></div>')
        return end

    def _list(self, lines, at, out):
        indent, mark, _ = ITEM.match(lines[at]).groups()
        tag = "ol" if mark[0].isdigit() else "ul"
        first = int(mark[:-1]) if tag == "ol" else 1
        items = []
        while at < len(lines):
            found = ITEM.match(lines[at])
            if not found or found[1] != indent or (found[2][0].isdigit() != (tag == "ol")):
                break
            inner = len(found[1]) + len(found[2]) + 1
            item = [found[3]]
            at += 1
            while at < len(lines):
                line = lines[at]
                deep = len(line) - len(line.lstrip())
                if line.strip() and (deep >= inner or deep > len(indent)):
                    item.append(line[min(deep, inner):])
                elif line.strip() and not ITEM.match(line) and item[-1].strip() and not line.startswith(("#", "```", "|", ">")):
                    item.append(line.strip())  # a paragraph goes on although it is not indented
                elif not line.strip() and at + 1 < len(lines) and lines[at + 1].startswith(indent + "  ") and lines[at + 1].strip():
                    item.append("")
                else:
                    break
                at += 1
            made = self._blocks(item)
            only = re.fullmatch(r"<p>(.*?)</p>(.*)", made, flags=re.S)
            items.append("<li>" + (only[1] + only[2] if only and "<p>" not in only[2] else made) + "</li>")
            while at + 1 < len(lines) and not lines[at].strip() and ITEM.match(lines[at + 1]):
                at += 1
        start = f' start="{first}"' if first != 1 else ""
        out.append(f"<{tag}{start}>" + "\n".join(items) + f"</{tag}>")
        return at

    def _paragraph(self, lines, at, out):
        end = at + 1
        while end < len(lines) and lines[end].strip() and not lines[end].startswith(("#", "```", ">", "|")) and not ITEM.match(lines[end]):
            end += 1
        text = "\n".join(lines[at:end])
        self._say(text.replace("\n", " "))
        out.append(f"<p>{self._inline(text)}</p>")
        return end
