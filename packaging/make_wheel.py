#!/usr/bin/env python3
"""Makes the wheel of tutti: the Python package and the program, for any Linux of its tag. `make wheel` calls it.

    packaging/make_wheel.py --build build/release --output build

BUILD is a folder in which the target `portable` was built (cmake/portable.cmake). The platform tag is computed from the
symbols that the program and its libraries want. A wheel that wants more than --most-glibc, or libraries that neither
it nor every machine has, is refused. Same inputs, same bytes. Needs cmake and objdump; of Python the standard library.
"""

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What PEP 600 takes for granted on every machine.
EVERYWHERE = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so\.\d+")
# The glibc of the first distribution that has these versions of libstdc++ and libgcc_s (policies of auditwheel).
GLIBC_OF = {"GLIBCXX": [((3, 4, 24), (2, 27)), ((3, 4, 28), (2, 31)), ((3, 4, 29), (2, 34)), ((3, 4, 30), (2, 35)),
                        ((3, 4, 32), (2, 38)), ((3, 4, 33), (2, 39))],
            "CXXABI": [((1, 3, 11), (2, 27)), ((1, 3, 12), (2, 31)), ((1, 3, 13), (2, 34)), ((1, 3, 15), (2, 39))],
            "GCC": [((7, 0, 0), (2, 27)), ((9, 0, 0), (2, 31)), ((12, 0, 0), (2, 35)), ((14, 0, 0), (2, 39))]}


class WheelError(Exception):
    pass


def numbers(text):
    return tuple(int(part) for part in text.split("."))


class Elf:
    """What a program or library wants of the machine."""

    def __init__(self, path):
        self.path = path
        done = subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise WheelError(f"{path.name} is no program: {done.stderr.strip()}")
        self.needs = re.findall(r"^  NEEDED +(\S+)$", done.stdout, re.M)
        self.rpath = "".join(re.findall(r"^  R(?:UN)?PATH +(\S+)$", done.stdout, re.M))
        wanted = done.stdout.partition("Version References:")[2]
        self.versions = sorted(set(re.findall(r" (GLIBC|GLIBCXX|CXXABI|GCC)_(\d[\d.]*)$", wanted, re.M)))

    def glibc(self):
        """The oldest glibc of a distribution on which it starts."""
        least = (2, 17)
        for name, text in self.versions:
            version = numbers(text)
            if name == "GLIBC":
                least = max(least, version[:2])
                continue
            known = [glibc for upto, glibc in GLIBC_OF[name] if version <= upto]
            if not known:
                raise WheelError(f"{self.path.name} wants {name}_{text}, of which no distribution is known here")
            least = max(least, known[0])
        return least

    def symbols_above(self, glibc):
        """'pidfd_open@GLIBC_2.36', for the message."""
        done = subprocess.run(["objdump", "-T", str(self.path)], capture_output=True, text=True, check=True)
        above = []
        for name, version, symbol in re.findall(r"\*UND\*.*\((GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)\) (\S+)$", done.stdout, re.M):
            number = numbers(version)
            of_it = number[:2] if name == "GLIBC" else next((of for upto, of in GLIBC_OF[name] if number <= upto), (99, 0))
            if of_it > glibc:
                above.append(f"{symbol}@{name}_{version}")
        return sorted(set(above))


def staged(build, folder):
    """Installs the portable program into `folder`."""
    done = subprocess.run(["cmake", "--install", str(build), "--component", "portable", "--strip", "--prefix", str(folder)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 or not (folder / "bin" / "tutti").exists():
        raise WheelError(f"{build} has no portable program; build its target `portable` first: {done.stderr.strip()[-500:]}")
    return folder


def platform_tag(elves, most):
    machine = os.uname().machine
    least = (2, 17)
    for elf in elves:
        glibc = elf.glibc()
        if glibc > most:
            names = ", ".join(elf.symbols_above(most)[:5])
            raise WheelError(f"{elf.path.name} wants glibc {'.'.join(map(str, glibc))}, above {'.'.join(map(str, most))}: {names}; "
                             "build on an older distribution, or raise --most-glibc")
        least = max(least, glibc)
    return f"manylinux_{least[0]}_{least[1]}_{machine}"


def check_libraries(elves):
    carried = {elf.path.name for elf in elves}
    for elf in elves:
        for name in elf.needs:
            if name not in carried and not EVERYWHERE.fullmatch(name):
                raise WheelError(f"{elf.path.name} needs {name}, which neither the wheel nor every machine has")
        if elf.path.name.startswith(("tutti", "libtutti")) and carried & set(elf.needs) and "$ORIGIN" not in elf.rpath:
            raise WheelError(f"{elf.path.name} would not find the libraries of the wheel: its rpath is '{elf.rpath}'")


def package_files(stage):
    """Path in the wheel -> file."""
    files = {}
    package = ROOT / "python" / "tutti"
    for file in sorted(package.rglob("*")):
        if file.suffix in (".py", ".pyi") or file.name == "py.typed":
            files[f"tutti/{file.relative_to(package).as_posix()}"] = file
    files["tutti/bin/tutti"] = stage / "bin" / "tutti"
    # Libraries that are linked under several names are carried under the one that programs ask for.
    for file in sorted((stage / "lib" / "tutti").iterdir()):
        files[f"tutti/lib/tutti/{file.name}"] = file
    ours = stage / "lib" / "libtutti.so"
    if ours.exists():
        files["tutti/lib/libtutti.so"] = ours.resolve()
    return files


def metadata(version):
    readme = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    return ("Metadata-Version: 2.1\nName: tutti\n" f"Version: {version}\n"
            "Summary: Plans for dataflow graphs and PyTorch models on heterogeneous machines, and models larger than their GPU\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nProvides-Extra: torch\n"
            'Requires-Dist: torch>=1.13; extra == "torch"\n'
            "Description-Content-Type: text/markdown\n\n" + readme)


def program_version(program):
    done = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WheelError(f"{program} does not start: {done.stderr.strip()}")
    if "report page" in done.stdout.partition("\nwithout ")[2]:
        print("make_wheel: warning: the program has no report page; install node and npm, run scripts/setup, and build again",
              file=sys.stderr)
    return done.stdout.split("\n")[0].partition(" ")[2]


def write_wheel(path, files, texts, prefix):
    """Files by path in the wheel; `texts` go into PREFIX.dist-info. The time of every entry is the same."""
    info = f"{prefix}.dist-info"
    record = []
    fresh = path.with_name(path.name + ".new")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:

        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")

        for name, file in sorted(files.items()):
            add(name, file.read_bytes(), 0o755 if name == "tutti/bin/tutti" else 0o644)
        for name, text in texts.items():
            add(f"{info}/{name}", text if isinstance(text, bytes) else text.encode(), 0o644)
        record.append(f"{info}/RECORD,,")
        add(f"{info}/RECORD", ("\n".join(record) + "\n").encode(), 0o644)
    os.replace(fresh, path)


def make(build, output, most_glibc):
    with tempfile.TemporaryDirectory() as folder:
        stage = staged(build, Path(folder) / "stage")
        files = package_files(stage)
        elves = [Elf(file) for name, file in files.items() if name.startswith(("tutti/bin/", "tutti/lib/"))]
        check_libraries(elves)
        tag = platform_tag(elves, most_glibc)
        version = program_version(stage / "bin" / "tutti")
        texts = {"METADATA": metadata(version),
                 "WHEEL": f"Wheel-Version: 1.0\nGenerator: tutti\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n",
                 "entry_points.txt": "[console_scripts]\ntutti = tutti.binary:main\n",
                 "licenses/LICENSE": (ROOT / "LICENSE").read_bytes()}
        for file in sorted((stage / "share" / "doc" / "tutti" / "carried").iterdir()):
            texts[f"licenses/{file.name}"] = file.read_bytes()
        output.mkdir(parents=True, exist_ok=True)
        path = output / f"tutti-{version}-py3-none-{tag}.whl"
        write_wheel(path, files, texts, f"tutti-{version}")
        size = sum(file.stat().st_size for file in files.values())
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, installed {size / 1e6:.1f} MB; carries "
              + ", ".join(sorted(elf.path.name for elf in elves)))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--output", type=Path, default=ROOT / "build", help="the folder of the wheel")
    parser.add_argument("--most-glibc", default="2.35", metavar="VERSION")
    given = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+", given.most_glibc):
        parser.error(f"--most-glibc takes a version such as 2.35, not {given.most_glibc}")
    try:
        make(given.build, given.output, numbers(given.most_glibc))
    except (WheelError, OSError) as error:
        sys.exit(f"make_wheel: {error}")


if __name__ == "__main__":
    main()
