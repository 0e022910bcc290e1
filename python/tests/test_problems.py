"""Problems in this process: needs the library, and neither torch nor numpy."""

import copy
import dataclasses
import gc
import json
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tutti
from tutti import plans, problems
from tests.support import environment, machine, needs_library
from tests.test_plans import GRAPH

try:
    import numpy
except ImportError:
    numpy = None


@needs_library
class Problems(unittest.TestCase):
    def setUp(self):
        self.problem = tutti.Problem(GRAPH, machine())

    def test_a_problem_says_what_it_is(self):
        self.assertEqual((self.problem.name, self.problem.machine_name), ("pair", "two"))
        self.assertEqual(self.problem.op_names(), ["a", "b"])
        self.assertEqual(self.problem.device_names(), ["cpu", "other"])
        self.assertEqual(list(self.problem.run_times_ns()), [1000] * 4)
        self.assertEqual(self.problem.lower_bound_ns, 1000)
        self.assertEqual(list(self.problem.edges()["producer"]), [])

    def test_two_independent_ops_go_to_two_devices(self):
        plan = self.problem.plan(evaluations=20)
        self.assertEqual(set(plan.placement.values()), {"cpu", "other"})
        self.assertEqual(plan.summary["makespan_ns"], 1000)
        self.assertEqual(plan.summary["gap"], 0)

    def test_the_library_makes_the_plan_that_the_program_makes(self):
        for policy in ("heft", "contention_eft", "auto"):
            asked = {"policy": policy, "evaluations": 20 if policy == "auto" else None}
            program = plans._plan_by_program(GRAPH, budget=None, machine=machine(), seed=1, costs=None, constraints=None,
                                             **asked)
            library = self.problem.plan(**asked)
            self.assertEqual(json.loads(library.text), json.loads(program.text), policy)
            for key in ("makespan_ns", "lower_bound_ns", "gap", "evaluations"):
                self.assertEqual(library.summary[key], program.summary[key], (policy, key))

    def test_a_plan_by_hand_is_simulated(self):
        plan = self.problem.place({"a": "cpu", "b": "cpu"})
        run = self.problem.simulate(plan)
        self.assertEqual(run.makespan_ns, 2000)
        self.assertEqual(run.gap, 1)
        self.assertEqual(list(run.ops()["device"]), [0, 0])
        self.assertEqual(list(run.ops()["start_ns"]), [0, 1000])
        self.assertEqual(json.loads(run.trace())["tutti"]["makespan_ns"], 2000)
        self.assertEqual(self.problem.place([0, 0]).placement, plan.placement)

    def test_a_plan_of_the_program_is_simulated_too(self):
        with mock.patch("tutti.library.available", lambda: False):
            plan = tutti.plan(GRAPH, machine=machine(), policy="heft")
        self.assertIsNone(plan.handle)
        self.assertEqual(tutti.simulate(self.problem, plan).makespan_ns, plan.summary["makespan_ns"])

    def test_a_plan_that_was_changed_is_simulated_as_it_is_now(self):
        plan = self.problem.plan("heft")
        self.assertEqual(self.problem.simulate(plan).makespan_ns, 1000)
        for other in (plan, dataclasses.replace(plan), tutti.Plan(dict(plan.placement), dict(plan.priority))):
            other.placement.update(a="cpu", b="cpu")
            self.assertEqual(self.problem.simulate(other).makespan_ns, 2000)
            self.assertEqual(list(self.problem.makespans_ns(other, 2)), [2000, 2000])
        self.assertEqual(list(self.problem.simulate(plan).ops()["start_ns"]), [0, 1000])
        plan.priority.update(a=1, b=0)
        self.assertEqual(list(self.problem.simulate(plan).ops()["start_ns"]), [1000, 0])

    def test_noise_draws_a_makespan_for_each_seed_and_the_same_again(self):
        noisy = tutti.Problem(GRAPH, machine(), noise=0.3)
        plan = noisy.plan("heft")
        first = list(noisy.makespans_ns(plan, 10))
        self.assertEqual(first, list(noisy.makespans_ns(plan, 10)))
        self.assertGreater(len(set(first)), 5)
        self.assertEqual(first[2], noisy.simulate(plan, seed=3).makespan_ns)
        self.assertEqual(noisy.simulate(plan, seed=3, mean=True).makespan_ns, 1000)

    def test_compared_policies_are_rows(self):
        rows = tutti.compare(self.problem, ["heft", "single_device"])
        self.assertEqual([(row.policy, row.mean_ns, row.error) for row in rows],
                         [("heft", 1000.0, None), ("single_device", 2000.0, None)])

    def test_columns_outlive_their_run_and_are_not_copied(self):
        column = self.problem.simulate(self.problem.place([0, 1])).ops()["finish_ns"]
        gc.collect()
        self.assertEqual(list(column), [1000, 1000])
        self.assertEqual((column.format, column.readonly), ("q", True))

    def test_plans_and_problems_may_be_copied(self):
        plan = self.problem.plan("heft")
        for other in (copy.deepcopy(plan), copy.copy(plan), pickle.loads(pickle.dumps(plan)),
                      tutti.Plan(**dataclasses.asdict(plan))):
            self.assertEqual(other, plan)
            for problem in (self.problem, copy.deepcopy(self.problem)):
                self.assertEqual(problem.simulate(other).makespan_ns, 1000)
        with self.assertRaisesRegex(tutti.TuttiError, "cannot be pickled; pickle the files"):
            pickle.dumps(self.problem)

    @unittest.skipIf(numpy is None, "needs numpy, which this Python has not")
    def test_numpy_takes_columns_as_they_are(self):
        finishes = numpy.asarray(self.problem.simulate(self.problem.place([0, 1])).ops()["finish_ns"])
        self.assertEqual((finishes.dtype, int(finishes.max())), (numpy.dtype("int64"), 1000))

    def test_constraints_and_costs_are_dicts_or_files(self):
        rules = {"schema_version": 1, "pin": [{"op": "a", "device": "other"}]}
        self.assertEqual(tutti.Problem(GRAPH, machine(), constraints=rules).plan("heft").placement["a"], "other")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rules.json"
            path.write_text(json.dumps(rules))
            graph = Path(folder) / "graph.json"
            graph.write_text(json.dumps(GRAPH))
            problem = tutti.Problem(graph, machine(), constraints=path)
            self.assertEqual(problem.plan("heft").placement["a"], "other")


@needs_library
class Errors(unittest.TestCase):
    def fails(self, code, words, call, *arguments, **settings):
        with self.assertRaisesRegex(tutti.TuttiError, words) as raised:
            call(*arguments, **settings)
        self.assertEqual(raised.exception.exit_code, code)
        self.assertNotIn("\n", str(raised.exception))

    def test_wrong_input_is_one_sentence(self):
        problem = tutti.Problem(GRAPH, machine())
        self.fails(2, "luck", problem.plan, "luck")
        self.fails(2, "/no/such/file", tutti.Problem, "/no/such/file", machine())
        self.fails(2, "p100-99", tutti.Problem, GRAPH, "p100-99")
        self.fails(2, "2 devices|one for each", problem.place, [0])
        self.fails(2, "lacks op", problem.place, {"a": "cpu"})
        self.fails(2, "5 parrots", problem.plan, budget="5 parrots")
        self.fails(2, "evaluations", problem.plan, budget=1, evaluations=5)
        self.fails(2, "noise", tutti.Problem, GRAPH, machine(), noise=-1.0)
        self.fails(2, "order", problem.simulate, problem.plan("heft"), order="sideways")

    def test_numbers_that_c_cannot_hold_are_refused(self):
        problem = tutti.Problem(GRAPH, machine())
        plan = problem.plan("heft")
        for seed in (-1, 2**64, 1.5):
            self.fails(2, "seed is", problem.plan, "random", seed=seed)
            self.fails(2, "seed is", problem.simulate, plan, seed=seed)
            self.fails(2, "seed is", problem.makespans_ns, plan, 1, first_seed=seed)
            self.fails(2, "seed is", problem.compare, ["heft"], seed=seed)
            self.fails(2, "seed is", problems.Graph.drawn, seed=seed)
        self.fails(2, "evaluations is", problem.plan, evaluations=2**63)
        self.fails(2, "count is -1", problem.makespans_ns, plan, -1)
        self.fails(2, "device is 4294967296", problem.place, [2**32, 0])
        self.fails(2, "device is 0.5", problem.place, [0.5, 0])
        self.fails(2, "priority is", problem.place, [0, 0], [2**63, 0])
        self.fails(2, "1 priorities for 2 ops", problem.place, [0, 0], [1])
        self.fails(2, "3 priorities for 2 ops", problem.place, [0, 0], [1, 2, 3])
        self.fails(2, "op 'c', which the graph has not", problem.place, {"a": "cpu", "b": "cpu", "c": "cpu"})
        self.fails(2, "zero byte", tutti.Problem, "graph\0.json", machine())

    def test_what_cannot_be_is_told_from_what_is_wrong(self):
        rules = {"schema_version": 1, "pin": [{"op": "a", "device": "cpu"}], "forbid": [{"op": "a", "device": "cpu"}]}
        self.fails(3, "a", tutti.Problem, GRAPH, machine(), constraints=rules)

    def test_a_plan_of_another_graph_is_refused(self):
        other = json.loads(json.dumps(GRAPH))
        other["ops"].append({"name": "c", "outputs": [{"bytes": 10}], "run_time_ns": {"cpu": 10, "other": 10}})
        plan = tutti.Problem(other, machine()).plan("heft")
        with self.assertRaises(tutti.TuttiError):
            tutti.Problem(GRAPH, machine()).simulate(plan)


class Library(unittest.TestCase):
    def python(self, code, **changes):
        with environment(**changes):
            return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                                  cwd=Path(__file__).resolve().parents[1])

    def test_a_missing_library_is_one_clear_sentence(self):
        done = self.python("import tutti; tutti.Problem({}, 'p100-4')", TUTTI_LIBRARY="/no/such/libtutti.so")
        self.assertIn("TUTTI_LIBRARY is /no/such/libtutti.so, which is no file; set it to libtutti.so", done.stderr)

    def test_a_library_that_is_another_is_named(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            done = self.python("import tutti; tutti.Problem({}, 'p100-4')", TUTTI_LIBRARY=file.name)
        self.assertIn("cannot be loaded", done.stderr)

    def test_plans_by_the_program_do_not_need_the_library(self):
        done = self.python("import tutti; print(tutti.find_binary)", TUTTI_LIBRARY="/no/such/libtutti.so")
        self.assertEqual(done.returncode, 0, done.stderr)

    @needs_library
    def test_the_structs_are_as_long_as_those_of_the_header(self):
        """A struct that the header has changed would be refused by its size, or be read wrongly."""
        from tutti import library
        header = Path(__file__).resolve().parents[2] / "tutti" / "tutti_c.h"
        structs = {"tutti_family": library.Family, "tutti_problem_options": library.ProblemOptions,
                   "tutti_plan_options": library.PlanOptions, "tutti_simulate_options": library.SimulateOptions,
                   "tutti_compare_options": library.CompareOptions, "tutti_compared": library.Compared,
                   "tutti_placing_options": library.PlacingOptions, "tutti_jobs_options": library.JobsOptions,
                   "tutti_step": library.Step}
        text = header.read_text(encoding="utf-8")
        for name, struct in structs.items():
            body = text.split(f"typedef struct {name} {{")[1].split(f"}} {name};")[0]
            declared = re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";")
            fields = [part.split()[-1].lstrip("*") for part in declared if part.split()]
            self.assertEqual([field for field, _ in struct._fields_], fields, name)


if __name__ == "__main__":
    unittest.main()
