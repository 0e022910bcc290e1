#!/usr/bin/env python3
"""What the wheel promises, on this machine: wheel_test.py BUILD VERSION. The wheel is made from BUILD, unpacked, and
used with nothing else on the path. scripts/package-test installs it on bare machines."""

import base64
import csv
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD, VERSION = Path(sys.argv[1]).resolve(), sys.argv[2]
BARE = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def make(folder, *more):
    return subprocess.run([sys.executable, ROOT / "packaging" / "make_wheel.py", "--build", BUILD, "--output", folder, *more],
                          capture_output=True, text=True, check=False)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.kept.name)
        subprocess.run(["cmake", "--build", BUILD, "--target", "portable"], check=True, stdout=subprocess.DEVNULL)
        made = make(cls.folder)
        assert made.returncode == 0, made.stderr
        [cls.wheel] = cls.folder.glob("*.whl")
        cls.site = cls.folder / "site"
        with zipfile.ZipFile(cls.wheel) as wheel:
            wheel.extractall(cls.site)
            for entry in wheel.infolist():  # as pip does
                if entry.external_attr >> 16 & 0o111:
                    (cls.site / entry.filename).chmod(0o755)
        cls.program = cls.site / "tutti" / "bin" / "tutti"

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def run_bare(self, *words, **variables):
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**BARE, **variables})

    def test_its_record_names_every_file_with_its_hash(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            [record] = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
            rows = {row[0]: row for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
            self.assertEqual(set(rows), set(wheel.namelist()))
            for name, digest, size in rows.values():
                if name == record:
                    continue
                content = wheel.read(name)
                expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), ("sha256=" + expected, len(content)), name)

    def test_the_same_build_gives_the_same_bytes(self):
        again = self.folder / "again"
        self.assertEqual(make(again).returncode, 0)
        self.assertEqual((again / self.wheel.name).read_bytes(), self.wheel.read_bytes())

    def test_one_version_is_everywhere(self):
        self.assertIn(f"tutti-{VERSION}-py3-none-manylinux_2_", self.wheel.name)
        ran = self.run_bare(self.program, "--version")
        self.assertEqual(ran.stdout.split("\n")[0], f"tutti {VERSION}", ran.stderr)
        code = f"import sys; sys.path.insert(0, {str(self.site)!r}); import tutti; print(tutti.__version__)"
        ran = self.run_bare(sys.executable, "-I", "-c", code)
        self.assertEqual(ran.stdout.strip(), VERSION, ran.stderr)

    def test_python_plans_with_the_program_in_the_wheel(self):
        code = f"""import sys; sys.path.insert(0, {str(self.site)!r})
import tutti
assert tutti.find_binary() == {str(self.program)!r}, tutti.find_binary()
plan = tutti.plan({str(ROOT / "examples/01_first_plan/graph.json")!r}, {str(ROOT / "examples/01_first_plan/machine.toml")!r}, policy="heft")
print(plan.summary["makespan_ns"])"""
        ran = self.run_bare(sys.executable, "-I", "-c", code)
        self.assertEqual(ran.stdout.strip(), "8250000", ran.stderr)

    def test_its_command_is_the_program(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            points = wheel.read(f"tutti-{VERSION}.dist-info/entry_points.txt").decode()
        self.assertIn("tutti = tutti.binary:main", points)
        code = f"import sys; sys.path.insert(0, {str(self.site)!r}); sys.argv = ['tutti', 'plan', 'missing.json']; import tutti.binary as b; b.main()"
        ran = self.run_bare(sys.executable, "-I", "-c", code)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("missing.json", ran.stderr)

    def test_the_program_finds_the_libraries_of_the_wheel_first(self):
        ran = self.run_bare(self.program, LD_TRACE_LOADED_OBJECTS="1")  # as ldd does
        carried = {file.name for file in (self.site / "tutti" / "lib" / "tutti").iterdir()}
        self.assertTrue(carried)
        found = dict(line.strip().split(" => ") for line in ran.stdout.strip().split("\n") if " => " in line)
        for name in carried:
            self.assertIn(str(self.site), os.path.realpath(found[name].split(" ")[0]), name)
        self.assertNotIn("not found", ran.stdout)

    def test_it_carries_the_licence_of_everything_in_it(self):
        licences = self.site / f"tutti-{VERSION}.dist-info" / "licenses"
        carried = list((self.site / "tutti" / "lib" / "tutti").iterdir())
        self.assertTrue((licences / "LICENSE").exists())
        # Of a package that several libraries are from there is one.
        self.assertGreaterEqual(len(list(licences.iterdir())), 2 if carried else 1)

    def test_the_report_page_is_in_it(self):
        self.assertEqual(self.run_bare(self.program, "graph", "make", "cholesky", "--tiles", "4", "-o", "g.json").returncode, 0)
        self.assertEqual(self.run_bare(self.program, "plan", "g.json", "-m", "p100-4", "--policy", "heft", "-o", "p.json").returncode, 0)
        ran = self.run_bare(self.program, "report", "g.json", "p.json", "-m", "p100-4", "-o", "page.html")
        without = self.run_bare(self.program, "version").stdout.partition("\nwithout ")[2]
        if "report page" in without:
            self.assertNotEqual(ran.returncode, 0)
            return
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertGreater((self.folder / "page.html").stat().st_size, 100_000)

    def test_it_plans_the_same_on_a_processor_of_x86_64_v2(self):
        emulator = shutil.which("qemu-x86_64")
        if not emulator or os.uname().machine != "x86_64":
            self.skipTest("qemu-user is not installed")
        # A later instruction, such as any of AVX, would stop it.
        self.assertEqual(self.run_bare(self.program, "graph", "make", "cholesky", "--tiles", "5", "-o", "old.json").returncode, 0)
        for policy in ("heft", "doppler"):  # the second computes with nets, which have versions for later processors
            words = ["plan", "old.json", "-m", "p100-4", "--policy", policy, "-o"]
            here = self.run_bare(self.program, *words, "here.json")
            old = self.run_bare(emulator, "-cpu", "Nehalem", self.program, *words, "there.json")
            self.assertEqual((here.returncode, old.returncode), (0, 0), here.stderr + old.stderr)
            self.assertEqual((self.folder / "here.json").read_bytes(), (self.folder / "there.json").read_bytes())

    def test_a_program_that_wants_a_newer_glibc_is_refused_by_name(self):
        ran = make(self.folder / "none", "--most-glibc", "2.17")
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stderr, r"^make_wheel: \S+ wants glibc 2\.\d+, above 2\.17: \w+@GLIBC")
        self.assertFalse((self.folder / "none").exists())

    def test_pip_installs_it_offline(self):
        env = self.folder / "env"
        if subprocess.run([sys.executable, "-m", "venv", env], capture_output=True, check=False).returncode != 0:
            self.skipTest("this Python has no venv or no pip in it")
        pip = self.run_bare(env / "bin" / "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", self.wheel)
        self.assertEqual(pip.returncode, 0, pip.stdout + pip.stderr)
        ran = self.run_bare(env / "bin" / "tutti", "--version")
        self.assertEqual(ran.stdout.split("\n")[0], f"tutti {VERSION}", ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
