"""Reads what `tutti ... --help` prints, of all commands: man pages and reference pages are made from it."""

import re
import subprocess
from dataclasses import dataclass, field

VERBATIM = ("Begin with", "Example", "Examples")  # command lines follow, not entries


@dataclass
class Section:
    title: str
    entries: list = field(default_factory=list)  # (name, description)


@dataclass
class Command:
    path: tuple  # ("graph", "make"); () is tutti itself
    what: str = ""
    usage: str = ""
    sections: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # (title, lines): examples, exit codes
    below: list = field(default_factory=list)

    @property
    def name(self):
        return " ".join(("tutti",) + self.path)

    def all(self):
        yield self
        for command in self.below:
            yield from command.all()


def column_of(lines):
    """Where descriptions begin: the same in all sections of a text."""
    for pattern in (r"\s+-h,\s*--help {2,}", r"  \S+ {2,}"):
        for line in lines:
            found = re.match(pattern, line)
            if found:
                return found.end()
    return 30


def is_more(line, column):
    """More of the entry before."""
    return line.strip() != "" and line[:column].strip() == ""


def add_entry(section, line, after, column):
    """A line below a title, and the line after it."""
    if is_more(line, column):
        if section.entries:
            name, what = section.entries[-1]
            section.entries[-1] = (name, f"{what} {line.strip()}".strip())
        return
    # One blank may end a name that just fits, or stand in a long name, whose description is on the next line.
    one_blank = line[column - 1:column] == " "
    fits = one_blank and (line[column - 2] == " " or not is_more(after, column))
    name, what = (line[:column].strip(), line[column:].strip()) if fits else (line.strip(), "")
    section.entries.append((name, what))


def parse(path, text):
    command = Command(path)
    lines = text.rstrip().split("\n")
    column = column_of(lines)
    current = None
    what = []
    for line, after in zip(lines, lines[1:] + [""]):
        title = re.match(r"(\S[^:]*):\s*(.*)$", line)
        if line.startswith("Usage: "):
            command.usage = line[len("Usage: "):].strip()
        elif not command.usage:
            what.append(line.strip())
        elif title and title[1] in VERBATIM or title and title[2]:
            current = (title[1], [title[2]] if title[2] else [])
            command.notes.append(current)
        elif title:
            current = Section(title[1])
            command.sections.append(current)
        elif line.strip() == "":
            current = current if isinstance(current, Section) else None
        elif isinstance(current, Section) and line.startswith(" "):
            add_entry(current, line, after, column)
        elif isinstance(current, tuple):
            current[1].append(line.strip())
        else:
            current = ("", [line.strip()])
            command.notes.append(current)
    command.what = " ".join(filter(None, what))
    if not command.usage:
        raise ValueError(f"the help text of tutti {' '.join(path)} has no usage")
    command.sections = [section for section in command.sections if section.entries]
    return command


def help_of(program, path):
    if path == ("help",):
        return None  # prints the help of other commands, and none of its own
    done = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=False, timeout=120)
    return done.stdout if done.returncode == 0 else None


def names_below(command):
    if command.usage != command.name + " COMMAND ...":
        return []
    return [name for section in command.sections for name, _ in section.entries if re.fullmatch(r"[a-z][a-z0-9-]*", name)]


def read(program, path=(), summary=""):
    """The command and all below it. One whose help cannot be had, as that of a companion program that is not
    installed, has its summary alone."""
    text = help_of(program, path)
    if text is None:
        if not path:
            raise ValueError(f"{program} --help failed")
        return Command(path, what=summary, usage=" ".join(("tutti",) + path) + (" [COMMAND ...]" if path == ("help",) else " [FLAGS]"))
    command = parse(path, text)
    summaries = {name: what for section in command.sections for name, what in section.entries}
    command.below = [read(program, path + (name,), summaries[name]) for name in names_below(command)]
    for below in command.below:  # the parser hands a footer on to sub-commands that have none
        below.notes = [note for note in below.notes if note not in command.notes]
    return command


def version_of(program):
    """"0.2.0" of "tutti 0.2.0"."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0 or not done.stdout.startswith("tutti "):
        raise ValueError(f"{program} --version failed: {done.stderr.strip()}")
    return done.stdout.split("\n")[0].partition(" ")[2]
