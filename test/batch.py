#!/usr/bin/python3
"""Experiments of many graphs and machines: every sample is kept, whatever cuts the run short.

  test/batch.py TUTTI [TEST...]
"""

import csv
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TUTTI = ""
MACHINES = ["p100-4", "uniform-2", "cpu-gpu"]
POLICIES = ["heft", "critical_path", "peft", "annealing"]
COUNT = ["--evaluations", "60", "--seeds", "2", "--noise", "0.1", "--runs", "2"]


class Experiment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.graphs = [self.make(f"g{i}", "layered", "--ops", str(20 + 5 * i), "--seed", str(i))
                       for i in range(4)]

    def make(self, name, *words):
        path = f"{name}.json"
        self.run_tutti("graph", "make", *words, "-o", path)
        return path

    def run_tutti(self, *words, code=0):
        environment = {**os.environ, "TUTTI_CONFIG": "", "TUTTI_COLOR": "never"}
        ran = subprocess.run([TUTTI, *words], capture_output=True, text=True, check=False,
                             cwd=self.folder, env=environment)
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran

    def batch(self, *more, code=0, graphs=None, machines=None, policies=None):
        words = ["batch", *(graphs or self.graphs), "-m", ",".join(machines or MACHINES),
                 "--policies", ",".join(policies or POLICIES), *COUNT, *more]
        return self.run_tutti(*words, code=code)

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()

    def rows(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def refused(self, *more, code=2, **wanted):
        ran = self.batch(*more, code=code, **wanted)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        return ran.stderr


class Samples(Experiment):
    def test_there_is_a_row_for_each_sample_with_all_that_decides_it(self):
        self.batch("-o", "all.csv")
        rows = self.rows("all.csv")
        self.assertEqual(len(rows), 4 * 3 * 4 * 2 * 2)
        keys = [(r["graph"], r["machine"], r["policy"], r["seed"], r["run"]) for r in rows]
        self.assertEqual(len(set(keys)), len(rows))
        self.assertEqual(keys[0], ("g0.json", "p100-4", "heft", "1", "0"))
        for row in rows:
            self.assertGreater(int(row["makespan_ns"]), 0)
            self.assertEqual(row["error"], "")
            self.assertIn("noise 0.1; evaluations 60", row["settings"])

    def test_samples_are_those_of_compare(self):
        self.batch("-o", "all.csv")
        ran = self.run_tutti("compare", "g1.json", "-m", "p100-4", "--policies",
                             ",".join(POLICIES), *COUNT, "--json")
        for result in json.loads(ran.stdout)["results"]:
            spans = [int(r["makespan_ns"]) for r in self.rows("all.csv")
                     if (r["graph"], r["machine"], r["policy"]) ==
                     ("g1.json", "p100-4", result["policy"])]
            self.assertEqual(len(spans), result["makespan_ns"]["runs"])
            self.assertAlmostEqual(sum(spans) / len(spans), result["makespan_ns"]["mean"], delta=1)
            self.assertEqual(min(spans), result["makespan_ns"]["min"])

    def test_bytes_do_not_depend_on_threads(self):
        for name in ("csv", "jsonl"):
            for threads in (1, 2, 5):
                self.batch("-o", f"{threads}.{name}", "--threads", str(threads))
                self.assertEqual(self.bytes_of(f"{threads}.{name}"), self.bytes_of(f"1.{name}"))

    def test_lines_of_json_hold_what_csv_does(self):
        self.batch("-o", "all.csv")
        self.batch("-o", "all.jsonl")
        lines = [json.loads(line) for line in self.bytes_of("all.jsonl").splitlines()]
        rows = self.rows("all.csv")
        self.assertEqual(len(lines), len(rows))
        for line, row in zip(lines, rows):
            self.assertEqual(list(line), list(row))
            self.assertEqual({key: "" if value is None else str(value) for key, value in
                              line.items()}, row)

    def test_what_depends_on_no_seed_is_one_sample(self):
        self.run_tutti("batch", "g0.json", "-m", "uniform-2", "-p", "heft,random", "--seeds", "5",
                       "-o", "all.csv")
        rows = self.rows("all.csv")
        self.assertEqual([r["policy"] for r in rows], ["heft"] + ["random"] * 5)

    def test_a_policy_that_refuses_is_a_row_that_says_why(self):
        self.batch("-o", "all.csv", policies=["heft", "exact"])
        rows = [r for r in self.rows("all.csv") if r["policy"] == "exact"]
        self.assertTrue(rows)
        for row in rows:
            self.assertTrue((row["makespan_ns"] == "") == (row["error"] != ""), row)

    def test_plan_times_are_there_only_if_asked_for(self):
        self.batch("-o", "plain.csv")
        self.assertNotIn("plan_seconds", self.rows("plain.csv")[0])
        self.batch("-o", "timed.csv", "--plan-time")
        self.assertGreater(float(self.rows("timed.csv")[0]["plan_seconds"]), 0)
        self.assertIn("made with --plan-time", self.refused("-o", "timed.csv"))
        self.assertIn("made without --plan-time", self.refused("-o", "plain.csv", "--plan-time"))

    def test_names_with_commas_and_quotes_come_back(self):
        odd = 'a,"b" c.json'
        (self.folder / "g0.json").rename(self.folder / odd)
        for name in ("odd.csv", "odd.jsonl"):
            self.batch("-o", name, graphs=[odd])
            before = self.bytes_of(name)
            self.batch("-o", name, graphs=[odd])
            self.assertEqual(self.bytes_of(name), before)
        self.assertEqual(self.rows("odd.csv")[0]["graph"], odd)


class Resuming(Experiment):
    def whole(self, name):
        self.batch("-o", name)
        return self.bytes_of(name)

    def test_a_run_that_is_killed_ends_with_the_same_bytes(self):
        words = ["batch", *self.graphs, "-m", ",".join(MACHINES), "--policies",
                 ",".join(POLICIES), *COUNT, "--evaluations", "12000", "--threads", "2"]
        words.remove("60")
        words.remove("--evaluations")
        self.run_tutti(*words, "-o", "whole.csv")
        whole = self.bytes_of("whole.csv")
        rng = random.Random(1)
        environment = {**os.environ, "TUTTI_CONFIG": ""}
        kills = 0
        for _ in range(40):
            with subprocess.Popen([TUTTI, *words, "-o", "cut.csv"], cwd=self.folder, env=environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
                time.sleep(rng.uniform(0.05, 0.3))
                if run.poll() is not None:
                    break
                run.send_signal(signal.SIGKILL)
            kills += 1
        self.run_tutti(*words, "-o", "cut.csv")
        self.assertEqual(self.bytes_of("cut.csv"), whole)
        self.assertGreater(kills, 1)

    def test_any_cut_of_the_file_is_gone_on_with(self):
        for name in ("a.csv", "a.jsonl"):
            whole = self.whole(name)
            for at in (0, 1, 17, len(whole) // 3, len(whole) // 2, len(whole) - 1, len(whole)):
                (self.folder / name).write_bytes(whole[:at])
                self.batch("-o", name)
                self.assertEqual(self.bytes_of(name), whole, at)

    def test_what_is_there_is_not_run_again(self):
        whole = self.whole("a.csv")
        lines = whole.decode().splitlines(keepends=True)
        # A figure that no run gives shows that the line was kept.
        cells = lines[1].split(",")
        lines[1] = lines[1].replace(cells[6], "123456", 1)
        (self.folder / "a.csv").write_text("".join(lines))
        ran = self.batch("-o", "a.csv")
        self.assertIn("123456", self.bytes_of("a.csv").decode())
        self.assertIn("(192 were there)", ran.stdout)

    def test_an_experiment_can_grow(self):
        whole = self.whole("whole.csv")
        self.batch("-o", "grown.csv", graphs=self.graphs[1:], machines=MACHINES[1:])
        self.batch("-o", "grown.csv", policies=POLICIES[2:])
        self.batch("-o", "grown.csv")
        self.assertEqual(self.bytes_of("grown.csv"), whole)
        # A smaller experiment keeps what it does not need.
        ran = self.batch("-o", "grown.csv", graphs=self.graphs[:1])
        self.assertEqual(len(self.rows("grown.csv")), 192)
        self.assertIn("samples: 48 (48 were there)", ran.stdout)

    def test_other_settings_are_refused_and_named(self):
        before = self.whole("a.csv")
        said = self.refused("-o", "a.csv", "--order", "fifo")
        self.assertIn("a.csv:2: this sample was made with other settings: '", said)
        self.assertIn("order priority", said)
        self.assertIn("order fifo", said)
        self.assertIn("other settings", self.refused("-o", "a.csv", "--seed", "7"))
        self.assertEqual(self.bytes_of("a.csv"), before)

    def test_a_graph_that_was_changed_is_refused(self):
        before = self.whole("a.csv")
        self.make("g1", "layered", "--ops", "30")
        self.assertIn("the graph 'g1.json' was another when this sample was made",
                      self.refused("-o", "a.csv"))
        self.assertEqual(self.bytes_of("a.csv"), before)

    @staticmethod
    def changed(whole, column, value):
        """The first row with another value in a column."""
        lines = whole.splitlines(keepends=True)
        cells = lines[1].split(",")
        cells[lines[0].split(",").index(column)] = value
        return lines[0] + ",".join(cells) + "".join(lines[2:])

    def test_files_that_are_no_samples_are_refused_and_kept(self):
        whole = self.whole("a.csv").decode()
        lines = whole.splitlines(keepends=True)
        for text, expected in (
                ("mine\nand not to be lost\n", "b.csv:1: this is no file of samples"),
                ("mine, without an end of the line", "b.csv:1: this is no file of samples"),
                (lines[0] + "a,b\n", "b.csv:2: a sample has 18 cells, not 2"),
                (lines[0] + lines[1] + lines[1], "b.csv:3: this sample stands twice"),
                (lines[0] + lines[1].replace(",1,", ",x,", 1), "b.csv:2: \"x\" is no seed"),
                (lines[0] + '"' + lines[1], "b.csv:2: a quote"),
                (self.changed(whole, "makespan_ns", "-1"), "b.csv:2: makespan_ns is -1, and no run "
                 "is that short; remove the row, and it is made again"),
                (self.changed(whole, "makespan_ns", "0"), "b.csv:2: makespan_ns is 0, and no run"),
                (self.changed(whole, "makespan_ns", "NaN"), "b.csv:2: \"NaN\" is no makespan_ns; "
                 "remove the row"),
                (self.changed(whole, "run", "5"), "b.csv:2: run 5 is not one of 2 runs"),
                (self.changed(whole, "runs", "0"), "b.csv:2: run 0 is not one of 0 runs"),
                (whole + "\n", "a sample has 18 cells, not 1; remove the row")):
            (self.folder / "b.csv").write_text(text)
            self.assertIn(expected, self.refused("-o", "b.csv"))
            self.assertEqual((self.folder / "b.csv").read_text(), text)
        (self.folder / "b.jsonl").write_text('{"a": 1')
        self.assertIn("b.jsonl:1: this is no file of samples", self.refused("-o", "b.jsonl"))
        (self.folder / "b.jsonl").write_text('{"a": 1}\n')
        self.assertIn("b.jsonl:1: a sample is an object of", self.refused("-o", "b.jsonl"))

    def test_two_runs_cannot_write_one_file(self):
        words = [TUTTI, "batch", *self.graphs, "-m", "p100-4", "-p", "annealing", "--evaluations",
                 "20000", "--seeds", "100", "-o", "a.csv"]
        with subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as run:
            while not (self.folder / "a.csv").exists():
                time.sleep(0.01)
            said = self.refused("-o", "a.csv")
            run.kill()
        self.assertIn("another run is at work with this file", said)

    def test_ctrl_c_keeps_whole_samples_and_ends_with_130(self):
        # Takes seconds, so that the signal comes before the end on a busy machine too.
        words = ["batch", *self.graphs, "-m", ",".join(MACHINES), "--policies",
                 ",".join(POLICIES), *COUNT, "--evaluations", "12000"]
        words.remove("60")
        words.remove("--evaluations")
        self.run_tutti(*words, "-o", "whole.csv")
        whole = self.bytes_of("whole.csv")
        words = [TUTTI, *words, "-o", "a.csv", "--threads", "1"]
        with subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "TUTTI_CONFIG": ""}) as run:
            while not (self.folder / "a.csv").exists() or len(self.bytes_of("a.csv")) < 3000:
                time.sleep(0.005)
            run.send_signal(signal.SIGINT)
            out, err = run.communicate()
        self.assertEqual((run.returncode, out), (130, ""), err)
        self.assertIn("the same command goes on from the samples that are written", err)
        self.assertTrue(set(self.bytes_of("a.csv").splitlines()) <= set(whole.splitlines()))
        self.run_tutti(*words[1:])
        self.assertEqual(self.bytes_of("a.csv"), whole)

    def test_a_full_disk_is_said_and_the_samples_before_are_kept(self):
        whole = self.whole("whole.csv")
        limit = len(whole) // 2
        environment = {**os.environ, "TUTTI_CONFIG": ""}
        script = f"ulimit -f {limit // 1024}; exec \"$@\""
        ran = subprocess.run(["bash", "-c", script, "bash", TUTTI, "batch", *self.graphs, "-m",
                              ",".join(MACHINES), "--policies", ",".join(POLICIES), *COUNT, "-o",
                              "a.csv"], cwd=self.folder, capture_output=True, text=True,
                             check=False, env=environment)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("a.csv: writing failed: File too large; the samples before are kept",
                      ran.stderr)
        self.batch("-o", "a.csv")
        self.assertEqual(self.bytes_of("a.csv"), whole)


class Summaries(Experiment):
    def summary(self, *more, **wanted):
        return json.loads(self.batch("--json", *more, **wanted).stdout)

    def means(self, name):
        sums = {}
        for row in self.rows(name):
            key = (row["graph"], row["machine"], row["policy"])
            sums.setdefault(key, []).append(int(row["makespan_ns"]))
        return {key: sum(values) / len(values) for key, values in sums.items()}

    def test_ratios_and_ranks_are_those_of_the_samples(self):
        summary = self.summary("-o", "a.csv")
        self.assertEqual((summary["baseline"], summary["pairs"]), ("heft", 12))
        means = self.means("a.csv")
        pairs = sorted({key[:2] for key in means})
        for row in summary["policies"]:
            logs = [math.log(means[(*pair, row["policy"])] / means[(*pair, "heft")])
                    for pair in pairs]
            mean = sum(logs) / len(logs)
            self.assertAlmostEqual(row["ratio"], math.exp(mean), places=9)
            spread = math.sqrt(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1))
            half = 2.200985160 * spread / math.sqrt(len(logs))  # Student's t, 11 degrees, 97.5 %
            self.assertAlmostEqual(row["ratio_high"], math.exp(mean + half), places=6)
            self.assertAlmostEqual(row["ratio_low"], math.exp(mean - half), places=6)
            self.assertAlmostEqual(row["worst_ratio"], math.exp(max(logs)), places=9)
            ranks = []
            for pair in pairs:
                own = means[(*pair, row["policy"])]
                faster = sum(means[(*pair, p)] < own for p in POLICIES)
                equal = sum(means[(*pair, p)] == own for p in POLICIES)
                ranks.append(faster + (equal + 1) / 2)
            self.assertAlmostEqual(row["mean_rank"], sum(ranks) / len(ranks), places=9)
        ranks = [row["mean_rank"] for row in summary["policies"]]
        self.assertEqual(ranks, sorted(ranks))

    def test_the_baseline_can_be_chosen_and_must_take_part(self):
        self.assertEqual(self.summary("--baseline", "peft")["baseline"], "peft")
        self.assertEqual(self.summary(policies=["peft", "annealing"])["baseline"], "peft")
        said = self.refused("--baseline", "petf")
        self.assertIn("did you mean 'peft'?", said)

    def test_a_policy_without_a_plan_ranks_last_and_is_counted(self):
        big = self.make("big", "layered", "--ops", "60")
        summary = self.summary(policies=["heft", "exact"], graphs=[big], machines=["p100-4"])
        rows = {row["policy"]: row for row in summary["policies"]}
        if rows["exact"]["refused"] == 1:
            self.assertEqual((rows["exact"]["ratio"], rows["exact"]["mean_rank"]), (None, 2))

    def test_the_table_names_baseline_interval_and_samples(self):
        text = self.batch("-o", "a.csv").stdout
        self.assertIn("graphs: 4, machines: 3, policies: 4, seeds: 2, samples: 192\n", text)
        self.assertIn("x heft", text)
        self.assertIn("95 % interval", text)
        self.assertIn("samples written to a.csv\n", text)

    def test_the_report_says_that_it_takes_the_summary_and_not_the_samples(self):
        self.batch("-o", "a.csv", graphs=self.graphs[:1], machines=["uniform-2"])
        ran = self.run_tutti("report", "a.csv", code=2)
        self.assertEqual(ran.stderr, "tutti: a.csv:1: these are samples; give the report what "
                                     "tutti batch --json prints\n")

    def test_the_report_shows_the_summary(self):
        (self.folder / "summary.json").write_text(self.batch("--json").stdout)
        ran = subprocess.run([TUTTI, "report", "summary.json", "-o", "page.html"],
                             cwd=self.folder, capture_output=True, text=True, check=False)
        if "node" in ran.stderr:
            self.skipTest("this build writes no pages")
        self.assertEqual(ran.returncode, 0, ran.stderr)


class ExperimentFiles(Experiment):
    def file(self, text, name="study/experiment.toml"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return name

    def test_a_file_stands_for_the_flags_and_is_relative_to_its_folder(self):
        self.batch("-o", "flags.csv")
        for graph in self.graphs:
            (self.folder / "study").mkdir(exist_ok=True)
            (self.folder / graph).rename(self.folder / "study" / graph)
        path = self.file(f"""schema_version = 1
graphs = {json.dumps(self.graphs)}
machine = {json.dumps(MACHINES)}
policies = {json.dumps(POLICIES)}
evaluations = 60
seeds = 2
noise = 0.1
runs = 2
""")
        self.run_tutti("batch", path, "-o", "file.csv")
        self.assertEqual(self.bytes_of("file.csv"), self.bytes_of("flags.csv"))

    def test_samples_that_the_file_names_are_written_to_its_folder(self):
        path = self.file('graphs = ["../g0.json"]\nmachine = "uniform-2"\npolicies = "heft"\n'
                         'output = "a.csv"\n')
        self.run_tutti("batch", path)
        self.assertEqual(len(self.rows("study/a.csv")), 1)
        self.run_tutti("batch", path, "-o", "b.csv")
        self.assertEqual(len(self.rows("b.csv")), 1)

    def test_the_command_line_wins_and_the_config_file_does_not_count(self):
        path = self.file('graphs = ["../g0.json"]\nmachine = "uniform-2"\npolicies = "heft"\n')
        ran = self.run_tutti("batch", path, "-p", "peft", "--json")
        self.assertEqual(json.loads(ran.stdout)["baseline"], "peft")
        config = self.folder / "config.toml"
        config.write_text('[batch]\nmachine = "no such machine"\nnoise = 0.3\n')
        environment = {**os.environ, "TUTTI_CONFIG": str(config)}
        ran = subprocess.run([TUTTI, "batch", path, "-o", "a.csv"], cwd=self.folder, text=True,
                             capture_output=True, check=False, env=environment)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertNotIn("noise", self.rows("a.csv")[0]["settings"])

    def test_the_file_of_the_documents_is_an_experiment(self):
        page = Path(__file__).parents[1] / "docs/formats/samples.md"
        text = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
        for name in ("cholesky", "layered"):
            (self.folder / "study" / "graphs").mkdir(parents=True, exist_ok=True)
            (self.folder / self.graphs.pop()).rename(
                self.folder / "study" / "graphs" / f"{name}.json")
        machine = self.run_tutti("machine", "show", "uniform-2").stdout
        (self.folder / "study" / "mine.toml").write_text(machine)
        ran = self.run_tutti("batch", self.file(text), "--seeds", "1", "--evaluations", "40",
                             "-o", "a.csv")
        self.assertIn("graphs: 2, machines: 3, policies: 4, seeds: 1, samples: 24\n", ran.stdout)
        columns = page.read_text(encoding="utf-8").split("```csv\n")[1].split("\n")[0]
        self.assertEqual(columns, self.bytes_of("a.csv").decode().split("\n")[0])

    def test_mistakes_are_named_with_line_and_suggestion(self):
        for text, expected in (
                ("seeds = 2\n", "experiment.toml:1: an experiment names its graphs"),
                ("graphs = 3\n", 'experiment.toml:1: "graphs" must be a list'),
                ('graphs = ["../g0.json"]\nmachines = "p100-4"\n',
                 "experiment.toml:2: there is no key 'machines'; did you mean 'machine'?"),
                ('graphs = ["../g0.json"]\nseeds = 0\n',
                 "experiment.toml:2: --seeds must be from 1 to 1000000, not 0"),
                ('graphs = ["../g0.json"]\n[batch]\nseeds = 5\n',
                 "experiment.toml:2: an experiment has no table '[batch]'; write its keys at the top "
                 "of the file"),
                ('graphs = ["../g0.json"]\n[nonsense]\nfoo = 5\n',
                 "experiment.toml:2: an experiment has no table '[nonsense]'"),
                ('graphs = ["../g0.json"]\ntail_weight = 1\ntail-weight = 2\n',
                 'experiment.toml:2: "tail_weight" is set twice'),
                ('graphs = ["../g0.json"]\ncosts = ""\n', 'experiment.toml:2: "costs" is empty'),
                ('graphs = ["../none.json"]\n', "none.json: cannot be opened"),
                ('graphs = ["../g0.json", "../g0.json"]\n', "the graph '../g0.json' is named twice"),
                ("schema_version = 3\ngraphs = []\n", "reads experiments of schema_version 1")):
            ran = self.run_tutti("batch", self.file(text), code=2)
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
            self.assertIn(expected, ran.stderr)


class Mistakes(Experiment):
    def test_flags_and_names_that_do_not_go_together_are_refused(self):
        self.assertIn("ends in .csv, or in .jsonl", self.refused("-o", "a.txt"))
        self.assertIn("--output needs the name of a file", self.refused("-o", "-"))
        self.assertIn("--plan-time adds to the samples", self.refused("--plan-time"))
        self.assertIn("the policy 'heft' is named twice", self.refused(policies=["heft", "heft"]))
        self.assertIn("did you mean 'p100-4'?", self.refused(machines=["p100-5"]))
        self.assertIn("did you mean 'heft'?", self.refused(policies=["hetf"]))
        self.assertIn("- can be read only once", self.refused(graphs=["-"]))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(self.graphs))


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
