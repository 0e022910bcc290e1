"""From a model to a graph."""

import copy
import dataclasses
import json
import tempfile
import threading
import unittest
import warnings
from pathlib import Path

import tutti
from tests.support import DEVICES, machine, needs_torch, torch
from tutti.binary import run

if torch is not None:
    from tests import models


@needs_torch
class Capture(unittest.TestCase):
    def op(self, graph, name):
        return next(op for op in graph.content["ops"] if op["name"] == name)

    def test_ops_have_flops_sizes_and_weights(self):
        graph = tutti.capture(models.Mlp(8), torch.zeros(2, 8))
        self.assertEqual(graph.op_names(), ["up", "relu", "down", "add"])
        up = self.op(graph, "up")
        self.assertEqual(up["kind"], "torch.linear")
        self.assertEqual(up["flops"], 2 * 2 * 8 * 32)
        self.assertEqual(up["operands"], ["x", "weight:up.weight", "weight:up.bias"])
        self.assertEqual(up["outputs"], [{"shape": [2, 32], "bytes": 256, "dtype": "f32"}])
        self.assertEqual(up["attributes"], {"module": "up"})
        inputs = {value["name"]: value for value in graph.content["inputs"]}
        self.assertEqual(inputs["x"]["residence"], "host")
        self.assertTrue(inputs["weight:up.weight"]["weight"])
        self.assertEqual(inputs["weight:up.weight"]["bytes"], 8 * 32 * 4)

    def test_the_program_reads_what_is_captured(self):
        for model in (models.Mlp(), models.Everything().eval()):
            graph = tutti.capture(model, torch.zeros(4, 8))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "graph.json"
                graph.save(path)
                info = json.loads(run(["graph", "info", path, "--json"]))
            self.assertEqual(info["ops"], len(graph.content["ops"]))

    def test_views_sizes_and_items_are_no_ops(self):
        graph = tutti.capture(models.Everything().eval(), torch.zeros(4, 8))
        kinds = {op["kind"] for op in graph.content["ops"]}
        self.assertFalse(kinds & {"torch.chunk", "torch.getattr", "torch.getitem", "torch.t", "torch.dropout"}, kinds)
        # Both halves are views of the one product.
        self.assertEqual(self.op(graph, "add")["operands"], ["mul"])

    def test_a_module_used_twice_has_one_set_of_weights(self):
        graph = tutti.capture(models.Everything().eval(), torch.zeros(4, 8))
        names = [value["name"] for value in graph.content["inputs"]]
        self.assertEqual(names.count("weight:linear.weight"), 1)
        self.assertIn("weight:linear.weight", self.op(graph, "linear_1")["operands"])

    def test_several_outputs_are_several_values(self):
        graph = tutti.capture(models.Everything().eval(), torch.zeros(4, 8))
        self.assertEqual([value["dtype"] for value in self.op(graph, "topk")["outputs"]], ["f32", "i64"])

    def test_inputs_may_be_named(self):
        model = models.Everything().eval()
        graph = tutti.capture(model, {"x": torch.zeros(4, 8), "mask": torch.ones(4, 8)})
        self.assertIn("mask", [value["name"] for value in graph.content["inputs"]])

    def test_the_model_is_left_as_it_was(self):
        model = models.Everything().eval()
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        tutti.measure(model, torch.zeros(4, 8), DEVICES, repeats=1)
        for name, tensor in model.state_dict().items():
            self.assertTrue(torch.equal(before[name], tensor), name)

    def test_a_model_in_training_is_left_as_it_was_and_its_dropout_is_captured(self):
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5))
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        for capture in (tutti.capture, lambda model, x: tutti.measure(model, x, DEVICES, repeats=1)):
            self.assertEqual(len(capture(model, torch.randn(4, 8)).op_names()), 3)
            for name, tensor in model.state_dict().items():
                self.assertTrue(torch.equal(before[name], tensor), name)

    def test_what_forward_keeps_is_not_left_in_the_model(self):
        class Keeps(models.Mlp):
            def forward(self, x):
                self.last = self.up(x)
                self.seen.append(self.last)
                return self.down(self.last) + torch.ones(8)
        model = Keeps()
        model.seen = []
        attributes = set(model.__dict__)
        graph = tutti.capture(model, torch.zeros(2, 8))
        self.assertEqual((set(model.__dict__), model.seen), (attributes, []))
        copy.deepcopy(model)
        placed = tutti.apply(model, tutti.Plan(dict.fromkeys(graph.op_names(), "cpu"), {}, graph=graph))
        x = torch.randn(2, 8)
        self.assertTrue(torch.equal(placed(x), model(x)))

    def test_models_without_values_and_lazy_ones_are_captured(self):
        graph = tutti.capture(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8)).to("meta"),
                              torch.zeros(2, 8, device="meta"))
        self.assertEqual(len(graph.op_names()), 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lazy = torch.nn.Sequential(torch.nn.LazyLinear(8), torch.nn.LazyBatchNorm1d())
        self.assertEqual(len(tutti.capture(lazy, torch.zeros(2, 8)).op_names()), 2)

    def test_inputs_of_inference_mode_are_taken(self):
        with torch.inference_mode():
            x = torch.randn(2, 8)
            self.assertEqual(len(tutti.capture(models.Mlp(), x).op_names()), 4)
        self.assertEqual(len(tutti.capture(models.Mlp(), x).op_names()), 4)

    def test_threads_that_capture_leave_torch_as_it_was(self):
        class Waits(models.Mlp):
            def __init__(self, mine, others):
                super().__init__()
                self.mine, self.others = mine, others

            def forward(self, x):
                self.mine.set()
                self.others.wait(0.2)
                return super().forward(x)
        before, first, second = torch.arange, threading.Event(), threading.Event()
        graphs = []
        threads = [threading.Thread(target=lambda model=model: graphs.append(tutti.capture(model, torch.zeros(2, 8))))
                   for model in (Waits(first, second), Waits(second, threading.Event()))]
        threads[0].start()
        first.wait()
        threads[1].start()
        for thread in threads:
            thread.join()
        self.assertIs(torch.arange, before)
        self.assertEqual([len(graph.op_names()) for graph in graphs], [4, 4])


@needs_torch
class CaptureRefuses(unittest.TestCase):
    def test_ops_that_work_in_place(self):
        with self.assertRaisesRegex(tutti.TuttiError, "'add_.*in place"):
            tutti.capture(models.InPlace(), torch.zeros(2))

    def test_control_flow_that_depends_on_values(self):
        with self.assertRaisesRegex(tutti.TuttiError, "cannot capture Branches"):
            tutti.capture(models.Branches(), torch.zeros(2))

    def test_inputs_that_do_not_fit(self):
        with self.assertRaisesRegex(tutti.TuttiError, "do not fit Mlp.forward"):
            tutti.capture(models.Mlp(), (torch.zeros(2), torch.zeros(2)))

    def differs(self, model, sentence="output 0 differs"):
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        attributes = set(model.__dict__)
        with self.assertRaisesRegex(tutti.TuttiError, "does not do what the model does: " + sentence):
            tutti.capture(model.eval(), torch.randn(4, 8))
        self.assertEqual(set(model.__dict__), attributes)
        for name, tensor in model.state_dict().items():
            self.assertTrue(torch.equal(before[name], tensor), name)

    def test_models_that_ask_whether_they_got_a_tensor(self):
        class Asks(models.Mlp):
            def forward(self, x):
                return self.down(self.up(x)) if isinstance(x, torch.Tensor) else self.up(x)

        class AsksElse(models.Mlp):
            def forward(self, x):
                return super().forward(x) if torch.is_tensor(x) else x * 0
        self.differs(Asks(), "output 0 is torch.float32 .4, 32., not torch.float32 .4, 8.")
        self.differs(AsksElse())

    def test_hooks_of_the_model_itself(self):
        model = models.Mlp()
        model.register_forward_hook(lambda module, given, result: result * 2)
        self.differs(model)
        model = models.Mlp()
        model.register_forward_pre_hook(lambda module, given: (given[0] * 2,))
        self.differs(model)

    def test_autocast_within_the_model(self):
        class Casts(models.Mlp):
            def forward(self, x):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return self.up(x)
        self.differs(Casts(), "output 0 is torch.float32 .4, 32., not torch.bfloat16")

    def test_random_numbers_that_would_be_constants(self):
        class Draws(models.Mlp):
            def forward(self, x):
                return super().forward(x) + torch.randn(8)
        self.differs(Draws())

    def test_state_in_buffers(self):
        class Counts(models.Mlp):
            def __init__(self):
                super().__init__()
                self.register_buffer("count", torch.zeros(1))

        class CountsByAnother(Counts):
            def forward(self, x):
                self.count = self.count + 1
                return self.up(x) * self.count

        class CountsInPlace(Counts):
            def forward(self, x):
                self.count += 1
                return self.up(x) * self.count
        self.differs(CountsByAnother(), "the model changes its buffer 'count'")
        self.differs(CountsInPlace())

    def test_signatures_and_outputs_that_torch_fx_cannot_take(self):
        class Variable(models.Mlp):
            def forward(self, *parts, **more):
                return super().forward(parts[0])

        @dataclasses.dataclass
        class Output:
            value: torch.Tensor
            found: dict

        class Dataclass(models.Mlp):
            def forward(self, x):
                return Output(super().forward(x), {1, 2})
        with self.assertRaisesRegex(tutti.TuttiError, r"keyword-only or variable arguments \(parts, more\)"):
            tutti.capture(Variable(), torch.zeros(2, 8))
        with self.assertRaisesRegex(tutti.TuttiError, "outputs may be tensors, numbers, tuples"):
            tutti.capture(Dataclass(), torch.zeros(2, 8))


@needs_torch
class Measure(unittest.TestCase):
    def test_every_op_has_a_time_on_every_device(self):
        graph = tutti.measure(models.Mlp(), torch.zeros(2, 8), DEVICES, repeats=2)
        for op in graph.content["ops"]:
            self.assertEqual(set(op["run_time_ns"]), {"cpu", "other"})
            self.assertGreater(op["run_time_ns"]["cpu"], 0)
        self.assertEqual([device["name"] for device in graph.machine["device"]], ["cpu", "other"])

    def test_more_work_takes_longer(self):
        graph = tutti.measure(models.Mlp(512), torch.zeros(256, 512), {"cpu": "cpu"}, repeats=3)
        times = {op["name"]: op["run_time_ns"]["cpu"] for op in graph.content["ops"]}
        self.assertGreater(times["up"], times["add"])

    def test_the_measured_machine_is_planned_for(self):
        graph = tutti.measure(models.Mlp(), torch.zeros(2, 8), {"cpu": "cpu"}, repeats=1)
        plan = tutti.plan(graph, evaluations=10)
        self.assertEqual(set(plan.placement.values()), {"cpu"})
        # One after another: the sum of the measured times.
        total = sum(op["run_time_ns"]["cpu"] for op in graph.content["ops"])
        self.assertEqual(plan.summary["makespan_ns"], total)

    def test_a_device_that_torch_has_not_is_named(self):
        with self.assertRaisesRegex(tutti.TuttiError, "'gpu9' is cuda:9"):
            tutti.measure(models.Mlp(), torch.zeros(2, 8), {"gpu9": "cuda:9"})
        with self.assertRaisesRegex(tutti.TuttiError, "devices is empty"):
            tutti.measure(models.Mlp(), torch.zeros(2, 8), {})

    def test_links_are_measured_between_different_memories(self):
        from tutti.measuring import _measure_link
        latency, rate = _measure_link("cpu", "cpu")
        self.assertGreater(latency, 0)
        self.assertGreater(rate, 0)


if __name__ == "__main__":
    unittest.main()
