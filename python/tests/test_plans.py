"""Asking the program for plans: needs no torch."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tutti
from tests.support import environment, machine

GRAPH = {"format": "tutti-graph", "schema_version": 1, "name": "pair", "ops": [
    {"name": "a", "outputs": [{"bytes": 1000}], "run_time_ns": {"cpu": 1000, "other": 1000}},
    {"name": "b", "outputs": [{"bytes": 1000}], "run_time_ns": {"cpu": 1000, "other": 1000}}]}


class Plans(unittest.TestCase):
    def test_two_independent_ops_go_to_two_devices(self):
        plan = tutti.plan(GRAPH, machine=machine(), evaluations=20)
        self.assertEqual(set(plan.placement.values()), {"cpu", "other"})
        self.assertEqual(plan.summary["makespan_ns"], 1000)
        self.assertEqual(plan.summary["single_device_ns"], 2000)

    def test_one_device_alone_comes_out_where_it_is_best(self):
        graph = json.loads(json.dumps(GRAPH))
        for op in graph["ops"]:
            op["run_time_ns"]["other"] = 100000
        plan = tutti.plan(graph, machine=machine(), evaluations=20)
        self.assertEqual(set(plan.placement.values()), {"cpu"})

    def test_a_gain_that_is_too_small_is_not_taken(self):
        plan = tutti.plan(GRAPH, machine=machine(), evaluations=20, least_gain=0.6)
        self.assertEqual(len(set(plan.placement.values())), 1)
        plan = tutti.plan(GRAPH, machine=machine(), evaluations=20, least_gain=0.4)
        self.assertEqual(len(set(plan.placement.values())), 2)

    def test_the_same_count_gives_the_same_plan(self):
        first = tutti.plan(GRAPH, machine=machine(), evaluations=50)
        self.assertEqual(first.text, tutti.plan(GRAPH, machine=machine(), evaluations=50).text)

    def test_a_saved_plan_is_read_back(self):
        plan = tutti.plan(GRAPH, machine=machine(), policy="round_robin")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            plan.save(path)
            again = tutti.read_plan(path)
        self.assertEqual(again.placement, plan.placement)
        self.assertEqual(again.priority, plan.priority)
        self.assertEqual(again.policy, "round_robin")

    def test_constraints_are_obeyed(self):
        rules = {"schema_version": 1, "pin": [{"op": "a", "device": "other"}]}
        plan = tutti.plan(GRAPH, machine=machine(), policy="heft", constraints=rules)
        self.assertEqual(plan.placement["a"], "other")


class Errors(unittest.TestCase):
    def test_the_sentence_of_the_program_is_raised(self):
        with self.assertRaisesRegex(tutti.TuttiError, "luck") as raised:
            tutti.plan(GRAPH, machine=machine(), policy="luck")
        self.assertEqual(raised.exception.exit_code, 2)
        self.assertNotIn("\n", str(raised.exception))
        self.assertFalse(str(raised.exception).startswith("tutti:"))

    def test_what_cannot_be_is_told_from_what_is_wrong(self):
        rules = {"schema_version": 1, "pin": [{"op": "a", "device": "cpu"}],
                 "forbid": [{"op": "a", "device": "cpu"}]}
        with self.assertRaises(tutti.TuttiError) as raised:
            tutti.plan(GRAPH, machine=machine(), constraints=rules)
        self.assertEqual(raised.exception.exit_code, 3)

    def test_a_notebook_shows_a_table_and_a_timeline(self):
        shown = tutti.plan(GRAPH, machine=machine(), evaluations=10)._repr_html_()
        self.assertIn("<svg", shown)
        self.assertEqual(shown.count("<rect"), len(GRAPH["ops"]))
        self.assertIn("<td>a</td>", shown)

    def test_a_binary_that_is_none_is_named(self):
        with environment(TUTTI_BINARY="/no/such/tutti"), mock.patch("tutti.library.available", lambda: False):
            with self.assertRaisesRegex(tutti.TuttiError, "/no/such/tutti"):
                tutti.plan(GRAPH, machine=machine())

    def test_without_the_library_the_program_makes_the_plan(self):
        with mock.patch("tutti.library.available", lambda: False):
            plan = tutti.plan(GRAPH, machine=machine(), evaluations=20)
        self.assertEqual(plan.summary["single_device_ns"], 2000)
        self.assertIsNone(plan.handle)

    def test_a_file_that_is_no_plan_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            for text in ("", "{}", "[1]", json.dumps(GRAPH)):
                path.write_text(text)
                with self.assertRaisesRegex(tutti.TuttiError, "not a plan"):
                    tutti.read_plan(path)
            with self.assertRaisesRegex(tutti.TuttiError, "cannot be read"):
                tutti.read_plan(Path(folder) / "none.json")


if __name__ == "__main__":
    unittest.main()
