#!/usr/bin/env python3
"""Man pages of tutti and of each of its commands, made from --help:

    packaging/docs/manual.py PROGRAM FOLDER     writes FOLDER/tutti.1, FOLDER/tutti-plan.1, ...

Needs the standard library alone. `make docs` and the build call it.
"""

import os
import sys
from pathlib import Path

import help_text


def roff(text):
    """Plain text, with what troff would take as its own escaped."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("~", "\\(ti").replace("^", "\\(ha").replace('"', "\\(dq")
    return roff_line(text)


def roff_line(text):
    """A line that troff does not take for a request."""
    return "\\&" + text if text.startswith(".") else text


def page_name(command):
    return "-".join(("tutti",) + command.path)


def entries(section):
    for name, what in section.entries:
        yield f".TP\n.B {roff(name)}\n{roff(what) or '.br'}"


def commands_below(command):
    if not command.below:
        return
    yield ".SH COMMANDS"
    for below in command.below:
        yield f".TP\n.BR {roff(page_name(below))} (1)\n{roff(below.what)}"


def notes(command):
    for title, lines in command.notes:
        yield f'.SH "{roff((title or "notes").upper())}"'
        if title in help_text.VERBATIM:
            yield ".nf\n.RS 4\n" + "\n".join(roff(line) for line in lines) + "\n.RE\n.fi"
        else:
            yield roff(" ".join(lines))


def see_also(command, parent):
    others = ([parent] if parent else []) + ([] if parent is None else [c for c in parent.below if c is not command])
    return ", ".join(f"\\fB{roff(page_name(other))}\\fR(1)" for other in others)


def man_page(command, parent, version):
    what = command.what.rstrip(".")
    words = roff(command.usage).split(" ")
    named = len(command.path) + 1
    lines = [f'.TH "{page_name(command).upper()}" 1 "" "tutti {version}" "tutti"',
             f".SH NAME\n{roff(page_name(command))} \\- {roff(what)}",
             f".SH SYNOPSIS\n.B {' '.join(words[:named])}\n{roff_line(' '.join(words[named:]))}".rstrip()]
    if not command.path:
        lines.append(f".SH DESCRIPTION\n{roff(command.what)}")
    names_of_commands = {below.path[-1] for below in command.below}
    for section in command.sections:
        if section.entries and all(name in names_of_commands for name, _ in section.entries):
            continue  # they have pages, which are listed
        lines.append(f'.SH "{roff(section.title.upper())}"')
        lines += entries(section)
    lines += commands_below(command)
    lines += notes(command)
    if parent:
        lines.append(f".SH SEE ALSO\n{see_also(command, parent)}")
    return "\n".join(lines) + "\n"


def write(program, folder):
    """Pages of commands that are gone are removed."""
    root = help_text.read(program)
    version = help_text.version_of(program)
    pages = {}

    def add(command, parent):
        pages[page_name(command) + ".1"] = man_page(command, parent, version)
        for below in command.below:
            add(below, command)

    add(root, None)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("tutti*.1"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        fresh = folder / (name + ".new")
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, folder / name)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        write(os.path.abspath(sys.argv[1]), Path(sys.argv[2]))
    except (OSError, ValueError) as error:
        sys.exit(f"packaging/docs/manual.py: {error}")


if __name__ == "__main__":
    main()
