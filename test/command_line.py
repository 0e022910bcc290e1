#!/usr/bin/python3
"""The manners of the command line: help, suggestions, colours, the config file.

  test/command_line.py TUTTI [TEST...]
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

TUTTI = ""


class Manners(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.graph = self.write("graph.json", """{"format": "tutti-graph", "schema_version": 1,
 "name": "g", "ops": [{"name": "a", "outputs": [{"bytes": 1000}], "run_time_ns": 100},
 {"name": "b", "operands": ["a"], "outputs": [{"bytes": 1000}], "run_time_ns": 100}]}""")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if name not in ("TUTTI_CONFIG", "TUTTI_COLOR", "NO_COLOR", "CLICOLOR_FORCE",
                                "XDG_CONFIG_HOME", "COLUMNS", "TERM")}
        return {**kept, "HOME": str(self.folder / "home"), "TERM": "xterm", **more}

    def run_tutti(self, *words, **environment):
        return subprocess.run([TUTTI, *words], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=self.environment(**environment))

    def on_terminal(self, *words, columns=80, **environment):
        """What a terminal of that width shows."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        done = subprocess.Popen([TUTTI, *words], stdin=subprocess.DEVNULL, stdout=theirs,
                                stderr=theirs, cwd=self.folder,
                                env=self.environment(**environment))
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        os.close(ours)
        done.wait()
        return text.decode().replace("\r\n", "\n")

    def refused(self, *words, **environment):
        """The one sentence on standard error."""
        ran = self.run_tutti(*words, **environment)
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        self.assertTrue(ran.stderr.startswith("tutti: "), ran.stderr)
        return ran.stderr


class Help(Manners):
    def commands(self):
        """All commands by their words, from the completion script."""
        script = self.run_tutti("completion", "bash").stdout
        paths = re.findall(r"^    '([a-z][a-z -]*)'\) words=", script, re.MULTILINE)
        return [path.split() for path in paths if " --" not in path and " -" not in path]

    def test_help_of_a_command_is_that_of_its_flag(self):
        for words in ([], ["plan"], ["graph", "make"], ["graph", "make", "cholesky"]):
            ran = self.run_tutti("help", *words)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(ran.stdout, self.run_tutti(*words, "--help").stdout)

    def test_help_that_cannot_be_written_is_an_error(self):
        for words in (["help", "plan"], ["--version"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                ran = subprocess.run([TUTTI, *words], stdout=full, stderr=subprocess.PIPE,
                                     check=False, env=self.environment())
            self.assertEqual((ran.returncode, b"could not be written" in ran.stderr), (1, True))

    def test_help_of_an_unknown_command_suggests_one(self):
        self.assertIn("tutti has no 'plann'; did you mean 'plan'?", self.refused("help", "plann"))
        self.assertIn("did you mean 'cholesky'?", self.refused("help", "graph", "make", "colesky"))

    def test_no_words_print_the_help_as_an_error(self):
        ran = self.run_tutti()
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertEqual(ran.stderr, self.run_tutti("--help").stdout)

    def test_commands_stand_in_groups_in_this_order(self):
        text = self.run_tutti("--help").stdout
        groups = ["Begin with:", "Plan and compare:", "Run:", "Serve:", "Measure:", "Learn:",
                  "Graphs and machines:", "Other:", "Exit codes:"]
        places = [text.index(group) for group in groups]
        self.assertEqual(places, sorted(places))
        for words in self.commands():
            self.assertIn(f"\n  {words[0]} ", text)

    def test_flags_stand_under_headings(self):
        text = self.run_tutti("compare", "--help", COLUMNS="100").stdout
        headings = ["Inputs:", "Policy and budget:", "Simulation:", "Real runs:", "Output:",
                    "General:", "Example:"]
        places = [text.index("\n" + heading) for heading in headings]
        self.assertEqual(places, sorted(places))
        self.assertLess(text.index("--machine"), text.index("\nPolicy and budget:"))
        self.assertLess(text.index("\nOutput:"), text.index("--json"))
        self.assertRegex(text, r"\(default:\s+this-host\)")
        self.assertIn("(1 to 1000000; default: 10)", text)

    def test_every_command_has_a_description_usage_and_example(self):
        for words in self.commands():
            if words[0] in ("train", "help"):
                continue  # another program, which may be missing; the help of tutti itself
            text = self.run_tutti(*words, "--help").stdout
            self.assertIn("Usage: tutti " + " ".join(words), text)
            self.assertGreater(text.index("\nUsage: "), 0, words)
            if "COMMAND ..." not in text:
                self.assertIn("tutti " + " ".join(words), text.split("Usage:")[1], words)

    def test_help_is_as_wide_as_the_terminal(self):
        for columns in (60, 80, 100, 200):
            for words in (["--help"], ["compare", "--help"], ["run", "--help"]):
                text = self.on_terminal(*words, columns=columns, NO_COLOR="1")
                body = text.split("\nExample")[0]
                widest = max(len(line) for line in body.splitlines())
                self.assertLessEqual(widest, min(columns, 100), (words, columns))
                self.assertGreater(widest, min(columns, 100) - 25, (words, columns))

    def test_examples_that_are_too_long_go_on_as_a_shell_reads_them(self):
        text = self.run_tutti("batch", "--help", COLUMNS="70").stdout
        example = text[text.index("Example: ") + 9:].split("\n         tutti")[0]
        self.assertIn(" \\\n", example)
        joined = " ".join(example.replace("\\\n", " ").split())
        self.assertTrue(joined.startswith("tutti batch graphs/*.json -m p100-4,"), joined)
        self.assertTrue(joined.endswith("-o samples.csv"), joined)


class Suggestions(Manners):
    def test_a_mistyped_flag_is_named_whatever_else_is_wrong(self):
        self.assertIn("tutti plan has no flag '--polcy'; did you mean '--policy'?",
                      self.refused("plan", "--polcy", "heft"))
        self.assertIn("has no flag '--jsn'; did you mean '--json'?", self.refused("plan", "--jsn"))
        self.assertIn("has no flag '-json'; did you mean '--json'?",
                      self.refused("plan", self.graph, "-json"))
        self.assertIn("tutti plan has no flag '-z'; see tutti plan --help",
                      self.refused("plan", self.graph, "-z"))

    def test_a_flag_in_front_of_its_command_is_sent_behind_it(self):
        self.assertIn("tutti has no flag '--machine'; write it behind plan, as in tutti plan "
                      "--machine", self.refused("--machine", "plan", self.graph))

    def test_a_mistyped_value_gets_a_suggestion(self):
        said = self.refused("compare", self.graph, "--runtime", "locl")
        self.assertIn("--runtime: there is no value 'locl'; did you mean 'local'? known are: sim, "
                      "local, starpu; see tutti compare --help", said)
        said = self.refused("plan", self.graph, "--order", "fofo")
        self.assertIn("did you mean 'fifo'?", said)

    def test_values_that_are_out_of_range_or_missing_are_said_so(self):
        self.assertIn("--seeds must be from 1 to 1000000, not 0",
                      self.refused("compare", self.graph, "--seeds", "0"))
        self.assertIn("--machine needs a value", self.refused("plan", self.graph, "--machine"))

    def test_an_empty_value_is_refused_and_not_taken_for_none(self):
        for words, flag in ((["check", self.graph, "--constraints", ""], "--constraints"),
                            (["simulate", self.graph, "--plan", ""], "--plan"),
                            (["plan", self.graph, "--costs", ""], "--costs"),
                            (["plan", self.graph, "-o", ""], "--output"),
                            (["graph", "convert", self.graph, "-o", ""], "--output"),
                            (["plan", ""], "graph"),
                            (["batch", self.graph, ""], "graphs")):
            self.assertIn(f"{flag} needs a value, and the one given is empty", self.refused(*words))
        self.assertIn("--config needs the name of a file",
                      self.refused("--config", "", "plan", self.graph))

    def test_words_that_no_terminal_can_show_are_written_out(self):
        said = self.refused("plan\x1b[31m")
        self.assertNotIn("\x1b", said)
        self.assertIn("\\x1b", said)


class Colors(Manners):
    def compare(self):
        return ["compare", self.graph, "-m", "uniform-2", "--policies", "heft,random"]

    def test_the_best_row_is_coloured_on_a_terminal(self):
        text = self.on_terminal(*self.compare())
        rows = [line for line in text.splitlines() if "\033[32m" in line]
        self.assertEqual(len(rows), 1, text)
        self.assertTrue(rows[0].endswith("\033[0m"), rows)

    def test_nothing_is_coloured_in_a_pipe(self):
        self.assertNotIn("\033", self.run_tutti(*self.compare()).stdout)

    def test_no_color_is_obeyed_if_it_is_not_empty(self):
        self.assertNotIn("\033[", self.on_terminal(*self.compare(), NO_COLOR="1").replace(
            "\033[K", ""))
        self.assertIn("\033[32m", self.on_terminal(*self.compare(), NO_COLOR=""))
        self.assertNotIn("\033[32m", self.on_terminal(*self.compare(), TERM="dumb"))

    def test_clicolor_force_colours_a_pipe_unless_no_color_is_set(self):
        self.assertIn("\033[32m", self.run_tutti(*self.compare(), CLICOLOR_FORCE="1").stdout)
        self.assertNotIn("\033", self.run_tutti(*self.compare(), CLICOLOR_FORCE="0").stdout)
        self.assertNotIn("\033", self.run_tutti(*self.compare(), CLICOLOR_FORCE="1",
                                                NO_COLOR="1").stdout)

    def test_the_flag_goes_before_the_environment_wherever_it_stands(self):
        for words in (["--color", "always", *self.compare()], [*self.compare(), "--color=always"]):
            self.assertIn("\033[32m", self.run_tutti(*words, NO_COLOR="1").stdout)
        self.assertNotIn("\033[32m", self.on_terminal(*self.compare(), "--color", "never",
                                                      CLICOLOR_FORCE="1"))
        self.assertIn("--color: there is no value 'allways'; did you mean 'always'?",
                      self.refused("--color", "allways", "policies"))
        self.assertIn("--color needs a value", self.refused("policies", "--color"))

    def test_errors_and_warnings_are_coloured_in_their_first_words(self):
        ran = self.run_tutti("plann", "--color", "always")
        self.assertTrue(ran.stderr.startswith("\033[31mtutti:\033[0m tutti has no"), ran.stderr)

    def test_a_terminal_that_cannot_clear_a_line_shows_no_progress(self):
        (self.folder / "sleeps.json").write_text(
            '{"format": "tutti-graph", "schema_version": 2, "name": "sleeps", "ops": '
            '[{"name": "a", "command": {"argv": ["sleep", "0.5"]}}]}')
        words = ["run", "sleeps.json", "--policy", "heft", "--allow-commands", "--run-folder"]
        self.assertIn("\033[K", self.on_terminal(*words, "one", TERM="xterm"))
        self.assertNotIn("\033[K", self.on_terminal(*words, "two", TERM="dumb"))

    def test_json_is_never_coloured(self):
        ran = self.run_tutti(*self.compare(), "--json", "--color", "always")
        self.assertNotIn("\033", ran.stdout)


class Config(Manners):
    def config(self, text):
        return self.write("home/.config/tutti/config.toml", text)

    def machine_of(self, *words, **environment):
        ran = self.run_tutti("plan", self.graph, "--policy", "heft", "--json", *words, **environment)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout.split('"machine":"')[1].split('"')[0], ran.stderr

    def test_flags_that_are_not_given_come_from_the_file_which_is_said(self):
        path = self.config('[plan]\nmachine = "uniform-3"\n')
        machine, said = self.machine_of()
        self.assertEqual(machine, "uniform-3")
        self.assertEqual(said, f"tutti: {path} sets --machine uniform-3\n")

    def test_the_command_line_wins(self):
        self.config('[plan]\nmachine = "uniform-3"\n')
        self.assertEqual(self.machine_of("-m", "uniform-2"), ("uniform-2", ""))
        self.assertEqual(self.machine_of("--machine=uniform-2"), ("uniform-2", ""))

    def test_a_table_wins_over_the_keys_above_it(self):
        self.config('machine = "uniform-4"\n[plan]\nmachine = "uniform-3"\n')
        self.assertEqual(self.machine_of()[0], "uniform-3")
        ran = self.run_tutti("compare", self.graph, "--policies", "heft", "--json")
        self.assertIn('"machine":"uniform-4"', ran.stdout)
        # Commands without such a flag are not concerned.
        self.assertEqual(self.run_tutti("policies").stderr, "")

    def test_the_file_is_found_by_variables_in_this_order(self):
        home = self.config('machine = "uniform-2"\n')
        self.assertEqual(self.machine_of()[0], "uniform-2")
        self.write("xdg/tutti/config.toml", 'machine = "uniform-3"\n')
        xdg = str(self.folder / "xdg")
        self.assertEqual(self.machine_of(XDG_CONFIG_HOME=xdg)[0], "uniform-3")
        chosen = self.write("chosen.toml", 'machine = "uniform-4"\n')
        self.assertEqual(self.machine_of(XDG_CONFIG_HOME=xdg, TUTTI_CONFIG=chosen)[0], "uniform-4")
        ran = self.run_tutti("--config", home, "plan", self.graph, "--policy", "heft", "--json",
                             TUTTI_CONFIG=chosen)
        self.assertIn('"machine":"uniform-2"', ran.stdout)

    def test_no_config_and_an_empty_variable_read_nothing(self):
        self.config("this is no TOML")
        for words, environment in ((["--no-config"], {}), ([], {"TUTTI_CONFIG": ""})):
            ran = self.run_tutti("plan", self.graph, "-m", "uniform-2", "--policy", "heft", *words,
                                 **environment)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_a_file_in_the_current_folder_is_not_read(self):
        self.write("tutti.toml", 'machine = "uniform-3"\n')
        self.write("config.toml", 'machine = "uniform-3"\n')
        self.assertEqual(self.machine_of("-m", "uniform-2"), ("uniform-2", ""))
        self.assertEqual(self.run_tutti("policies").stderr, "")

    def test_unknown_names_are_errors_with_line_and_suggestion(self):
        path = self.config('[plan]\n\nmachin = "uniform-3"\n')
        self.assertIn(f"{path}:3: tutti plan has no flag 'machin'; did you mean 'machine'?",
                      self.refused("policies"))
        path = self.config('[comapre]\nseeds = 3\n')
        self.assertIn(f"{path}:1: tutti has no command 'comapre'; did you mean 'compare'?",
                      self.refused("policies"))
        path = self.config('[graph.make.cholesky]\ntile = 3\n')
        self.assertIn(f"{path}:2: tutti graph make cholesky has no flag 'tile'; did you mean "
                      "'tiles'?", self.refused("policies"))

    def test_a_name_that_is_very_long_is_not_echoed_whole(self):
        self.config("k" * 1000000 + " = 3\n")
        self.assertLess(len(self.refused("policies")), 500)

    def test_values_are_checked_with_file_and_line(self):
        for text, expected in (
                ("[compare]\nseeds = 0\n", ":2: --seeds must be from 1 to 1000000, not 0"),
                ("[compare]\nruntime = 'locl'\n", ":2: --runtime: there is no value 'locl'; did you"),
                ("[compare]\njson = 3\n", ':2: "json" is a switch: true or false'),
                ("[compare]\nseeds = true\n", ':2: "seeds" takes a value, not true or false'),
                ("[compare]\nseeds = [1, 2]\n", ':2: "seeds" takes one value, not a list'),
                ("[compare]\nbudget = '1s'\nevaluations = 5\n", ':3: "evaluations" cannot stand with '
                 "--budget"),
                ("[compare]\ntail_weight = 1\ntail-weight = 2\n",
                 ':2: "tail_weight" is set twice, once with _ and once with -; leave one out'),
                ("[compare]\nconstraints = ''\n", ':2: "constraints" is empty; give it a value'),
                ("schema_version = 2\n", ":1: this tutti reads config files of schema_version 1")):
            path = self.config(text)
            said = self.refused("compare", self.graph, "-m", "uniform-2", "--policies",
                                "annealing")
            self.assertIn(path + expected, said)

    def test_lists_switches_numbers_and_underscores_are_taken(self):
        self.config("schema_version = 1\n[compare]\npolicies = ['heft', 'random']\nseeds = 2\n"
                    "json = true\nnoise = 0.1\n")
        ran = self.run_tutti("compare", self.graph, "-m", "uniform-2")
        self.assertEqual(ran.stdout.count('"policy":'), 2, ran.stdout + ran.stderr)
        self.assertIn('"runs":2', ran.stdout)
        self.assertIn('"noise":true', ran.stdout)
        self.config("[plan]\nevaluations = 50\ntail_weight = 0.5\n")
        ran = self.run_tutti("plan", self.graph, "-m", "uniform-2")
        self.assertIn("sets --evaluations 50, --tail-weight 0.5", ran.stderr)

    def test_a_flag_that_excludes_a_default_wins(self):
        self.config("[plan]\nbudget = '1h'\n")
        ran = self.run_tutti("plan", self.graph, "-m", "uniform-2", "--evaluations", "20")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_defaults_that_the_policies_do_not_look_at_are_left_out(self):
        path = self.config("[plan]\nbudget = '5s'\ntail_weight = 0.5\nscenarios = 4\n"
                           "state = 's.json'\n[simulate]\nevaluations = 30\n"
                           "[compare]\nevaluations = 30\n")
        plan = str(self.folder / "plan.json")
        machine = ["-m", "uniform-2"]
        for words in (["plan", self.graph, *machine, "--policy", "heft", "-o", plan],
                      ["simulate", self.graph, *machine, "--plan", plan],
                      ["simulate", self.graph, *machine, "--policy", "heft"],
                      ["simulate", self.graph, *machine, "--policy", "random", "--online"],
                      ["compare", self.graph, *machine]):
            ran = self.run_tutti(*words)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), words)
        ran = self.run_tutti("compare", self.graph, *machine, "--policies", "heft,annealing")
        self.assertEqual((ran.returncode, ran.stderr),
                         (0, f"tutti: {path} sets --evaluations 30\n"))
        ran = self.run_tutti("simulate", self.graph, *machine)
        self.assertEqual(ran.stderr, f"tutti: {path} sets --evaluations 30\n")
        self.config("[plan]\npolicy = 'heft'\nevaluations = 30\n")
        ran = self.run_tutti("plan", self.graph, *machine)
        self.assertEqual((ran.returncode, "sets --policy heft\n" in ran.stderr), (0, True))
        # What stands on the command line is refused as ever.
        self.assertIn("--evaluations is for policies that search",
                      self.refused("plan", self.graph, *machine, "--policy", "heft",
                                   "--evaluations", "5"))

    def test_a_required_flag_may_stand_in_the_file(self):
        plan = str(self.folder / "plan.json")
        self.run_tutti("plan", self.graph, "-m", "uniform-2", "--policy", "heft", "-o", plan)
        self.config(f"machine = 'uniform-2'\n[export]\nplan = '{plan}'\nto = 'csv'\n")
        ran = self.run_tutti("export", self.graph)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("a,", ran.stdout)

    def test_colour_may_stand_in_the_file(self):
        path = self.config("color = 'always'\n")
        self.assertIn("\033[31m", self.run_tutti("plann").stderr)
        self.assertNotIn("\033", self.run_tutti("plann", "--color", "never").stderr)
        path = self.config("color = 'allways'\n")
        self.assertIn(f"{path}:1: color: there is no value 'allways'", self.refused("policies"))

    def test_the_file_of_the_documents_is_a_config_file(self):
        page = Path(__file__).parents[1] / "docs/formats/config.md"
        self.config(page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0])
        ran = self.run_tutti("graph", "make", "cholesky", "--tile-size", "64", "-o", "c.json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("sets --tiles 8\n", ran.stderr)
        ran = self.run_tutti("compare", "c.json", "--policies", "heft", "--seeds", "1", "--json")
        self.assertIn('"machine":"p100-4"', ran.stdout)
        ran = self.run_tutti("plan", self.graph, "--policy", "heft")
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_help_version_and_completion_need_no_good_file(self):
        self.config("this is no TOML")
        for words in (["--help"], ["help", "plan"], ["plan", "-h"], ["--version"],
                      ["completion", "bash"]):
            self.assertEqual(self.run_tutti(*words).returncode, 0, words)
        self.assertIn("config.toml:1: ", self.refused("policies"))

    def test_a_named_file_that_is_missing_is_an_error(self):
        self.assertIn("--no-config goes without it",
                      self.refused("policies", TUTTI_CONFIG=str(self.folder / "none.toml")))

    def test_hostile_files_are_refused(self):
        for text in ("[" * 100000, "a = " + "[" * 100000, "[plan]\nmachine = {a = 1}\n",
                     "[plan]\nseed = 1979-05-27\n", "[[plan]]\nseed = 1\n", "\x00\xff"):
            self.config(text)
            self.refused("plan", self.graph, "-m", "uniform-2", "--policy", "heft")


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
