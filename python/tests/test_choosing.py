"""The plan that is kept is the one that runs fastest."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tutti
from tests.support import DEVICES, environment, machine, needs_library, needs_torch, torch
from tutti import plans
from tutti.binary import run

if torch is not None:
    from tests import models
    from tutti import choosing, measuring
    # To tell them apart if both are one CPU.
    TWO_DEVICES = {"cpu": "cpu", "other": "cpu:0"}


def sides():
    """Two equal halves: by simulation they belong on two devices."""
    class Sides(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.left = torch.nn.Linear(8, 8)
            self.right = torch.nn.Linear(8, 8)

        def forward(self, x):
            return self.left(x), self.right(x)
    return Sides()


@needs_torch
class Choosing(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.model, self.x = sides(), torch.randn(4, 8)
        self.graph = tutti.capture(self.model, self.x)
        for op in self.graph.content["ops"]:
            op["run_time_ns"] = {"cpu": 1000000, "other": 1000000}

    def plan(self, times, **settings):
        """times: in the order plan, all on cpu, all on other, where they are candidates."""
        def given(works, devices, repeats):
            self.assertEqual(len(works), len(times))
            for work in works:
                self.assertTrue(torch.equal(work()[0], self.model(self.x)[0]))
            return [[time] * repeats for time in times]
        with mock.patch.object(choosing, "seconds_in_turn", given):
            return tutti.plan(self.graph, machine=machine(), evaluations=20, measure=True,
                              **{"devices": TWO_DEVICES, **settings})

    def test_one_device_is_the_plan_where_it_runs_faster_than_what_simulates_best(self):
        plan = self.plan([2.0, 3.0, 1.4])
        self.assertEqual(plan.one_device(), "other")
        self.assertEqual(plan.measured["fastest"], "all on other")
        self.assertEqual(plan.measured["one_device"], "other")
        self.assertEqual([row["name"] for row in plan.measured["candidates"]], ["plan", "all on cpu", "all on other"])
        self.assertEqual([row["median_s"] for row in plan.measured["candidates"]], [2.0, 3.0, 1.4])
        placed = tutti.apply(self.model, plan, DEVICES)
        self.assertTrue(torch.equal(placed(self.x)[1], self.model(self.x)[1]))

    def test_several_devices_are_the_plan_where_they_run_faster(self):
        plan = self.plan([1.0, 3.0, 1.4])
        self.assertIsNone(plan.one_device())
        self.assertEqual(plan.measured["fastest"], "plan")
        self.assertIsNone(plan.measured["one_device"])

    def test_a_gain_that_is_too_small_is_not_taken(self):
        self.assertEqual(self.plan([1.0, 3.0, 1.04], least_gain=0.05).one_device(), "other")
        self.assertIsNone(self.plan([1.0, 3.0, 1.1], least_gain=0.05).one_device())

    def test_the_other_device_is_taken_if_it_is_faster_than_simulated(self):
        for op in self.graph.content["ops"]:
            op["run_time_ns"] = {"cpu": 1000, "other": 9000000}
        plan = self.plan([3.0, 1.0])  # all on the CPU is the plan
        self.assertEqual(plan.one_device(), "other")

    def test_what_is_kept_is_a_plan_file_like_any_other(self):
        plan = self.plan([2.0, 3.0, 1.0])
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("graph.json", self.graph.content), ("machine.json", machine())):
                Path(folder, name).write_text(json.dumps(content), encoding="utf-8")
            plan.save(Path(folder, "plan.json"))
            self.assertEqual(tutti.read_plan(Path(folder, "plan.json")).one_device(), "other")
            verdict = run(["check", Path(folder, "graph.json"), "-m", Path(folder, "machine.json"), "--plan",
                           Path(folder, "plan.json"), "--json"])
        self.assertTrue(json.loads(verdict)["good"])
        self.assertGreater(plan.summary["makespan_ns"], 0)

    def test_a_device_that_constraints_forbid_is_no_candidate_and_the_reason_is_told(self):
        rules = {"schema_version": 1, "forbid": [{"op": "left", "device": "other"}]}
        plan = self.plan([2.0, 1.0], constraints=rules)
        self.assertEqual(plan.one_device(), "cpu")
        refused = [row for row in plan.measured["candidates"] if "error" in row]
        self.assertEqual([row["name"] for row in refused], ["all on other"])
        self.assertIn("left", refused[0]["error"])

    @needs_library
    def test_the_library_alone_is_enough(self):
        with environment(TUTTI_BINARY="/no/such/tutti"):
            self.assertEqual(self.plan([2.0, 3.0, 1.4]).one_device(), "other")
            rules = {"schema_version": 1, "forbid": [{"op": "left", "device": "other"}]}
            plan = self.plan([2.0, 1.0], constraints=rules)
        self.assertIn("left", next(row["error"] for row in plan.measured["candidates"] if "error" in row))

    def test_a_program_that_cannot_be_run_is_no_reason_against_a_device(self):
        plan = tutti.plan(self.graph, machine=machine(), evaluations=20)
        with environment(TUTTI_BINARY="/no/such/tutti"), mock.patch("tutti.library.available", lambda: False), \
                mock.patch.object(plans, "_plan", lambda *given, **settings: plan):
            with self.assertRaisesRegex(tutti.TuttiError, "/no/such/tutti"):
                self.plan([])

    def test_two_names_of_one_device_are_one_candidate(self):
        plan = self.plan([2.0, 1.0], devices=DEVICES)
        self.assertEqual(plan.one_device(), "cpu")

    def test_a_device_that_cannot_run_the_model_is_told_of(self):
        real = choosing.apply

        def apply(model, plan, *args, **kwargs):
            if plan.one_device() == "other":
                raise RuntimeError("out of memory\nmore")
            return real(model, plan, *args, **kwargs)
        with mock.patch.object(choosing, "apply", apply):
            plan = self.plan([2.0, 1.0])
        self.assertEqual(plan.one_device(), "cpu")
        self.assertIn({"name": "all on other", "error": "out of memory"}, plan.measured["candidates"])

    def test_real_times_decide_without_being_told_the_devices_again(self):
        graph = tutti.measure(models.Mlp(), torch.zeros(2, 8), DEVICES, repeats=1)
        plan = tutti.plan(graph, evaluations=10, measure=True, repeats=3)
        rows = plan.measured["candidates"]
        for row in rows:
            self.assertGreater(row["least_s"], 0)
            self.assertLessEqual(row["least_s"], row["median_s"])
            self.assertLessEqual(row["median_s"], row["most_s"])
        best = min(rows, key=lambda row: row["median_s"])
        self.assertEqual(plan.measured["fastest"], best["name"])

    def test_a_graph_without_a_model_cannot_be_measured(self):
        with self.assertRaisesRegex(tutti.TuttiError, "captured here"):
            tutti.plan(self.graph.content, machine=machine(), evaluations=5, measure=True, devices=DEVICES)
        with self.assertRaisesRegex(tutti.TuttiError, "torch devices"):
            tutti.plan(self.graph, machine=machine(), evaluations=5, measure=True)


@needs_torch
class InTurn(unittest.TestCase):
    def test_each_is_run_as_often_and_none_always_first(self):
        calls = []

        def batch(work, devices, count):
            work()
            return 1.0
        with mock.patch.object(measuring, "_batch_seconds", batch), \
                mock.patch.object(measuring, "_batch_of", lambda work, devices, warm_up: 1):
            times = measuring.seconds_in_turn([lambda: calls.append("a"), lambda: calls.append("b")], ["cpu"], repeats=3)
        self.assertEqual(calls, ["a", "b", "b", "a", "a", "b"])
        self.assertEqual(times, [[1.0] * 3, [1.0] * 3])


if __name__ == "__main__":
    unittest.main()
