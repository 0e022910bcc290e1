"""A placed model gives the outputs of the model."""

import enum
import unittest

import tutti
from tests.support import DEVICES, machine, needs_torch, torch

if torch is not None:
    from tests import models
    from tutti.placing import move
    from tutti.tracing import tensors_in


@needs_torch
class Apply(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)

    def assert_equal_results(self, first, second):
        first, second = tensors_in(first), tensors_in(second)
        self.assertEqual(len(first), len(second))
        for one, other in zip(first, second):
            self.assertTrue(torch.equal(one, other))

    def test_outputs_are_those_of_the_model_under_every_policy(self):
        model, x = models.Everything().eval(), torch.randn(4, 8)
        graph = tutti.capture(model, x)
        for policy in ("round_robin", "random", "heft", "single_device"):
            for seed in (1, 2, 3):
                plan = tutti.plan(graph, machine=machine(), policy=policy, seed=seed)
                placed = tutti.apply(model, plan, DEVICES)
                self.assert_equal_results(model(x), placed(x))
                fresh = torch.randn(4, 8)
                self.assert_equal_results(model(fresh), placed(fresh))

    def test_both_devices_are_used_and_every_op_runs_where_it_is_planned(self):
        model, x = models.Mlp(), torch.randn(2, 8)
        placement = {"up": "cpu", "relu": "other", "down": "other", "add": "cpu"}
        placed = tutti.apply(model, placement, DEVICES, inputs=x)
        called = [node.target for node in placed.graph.nodes if node.op == "call_module"]
        self.assertEqual(called, ["up__on__cpu", "down__on__other"])
        self.assert_equal_results(model(x), placed(x))

    def test_parts_whose_names_differ_only_in_punctuation_are_told_apart(self):
        class Alike(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.Module()
                self.a.b, self.a_b = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
                self.a.w, self.a_w = (torch.nn.Parameter(torch.randn(8)) for _ in range(2))
                self.parts = torch.nn.ModuleDict({"c-1": torch.nn.Linear(8, 8), "c_1": torch.nn.Linear(8, 8)})

            def forward(self, x):
                return (self.a.b(x) - self.a_b(x)) * self.a.w - self.a_w, self.parts["c-1"](x) - self.parts["c_1"](x)
        model, x = Alike(), torch.randn(4, 8)
        graph = tutti.capture(model, x)
        for devices in ({"cpu": "cpu"}, {"gpu-0": "cpu", "gpu_0": "cpu"}):
            placement = {name: list(devices)[i % len(devices)] for i, name in enumerate(graph.op_names())}
            self.assert_equal_results(model(x), tutti.apply(model, placement, devices, inputs=x)(x))

    def test_several_outputs_may_be_read_by_name(self):
        class Named(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(8, 8)

            def forward(self, x):
                best = self.linear(x).topk(2)
                return best.values * 2, best.indices, x.sort(-1).values, x.max(-1).indices
        model, x = Named(), torch.randn(4, 8)
        graph = tutti.measure(model, x, DEVICES, repeats=1)
        self.assertEqual([op["kind"] for op in graph.content["ops"]],
                         ["torch.linear", "torch.topk", "torch.mul", "torch.sort", "torch.max"])
        self.assertEqual(graph.content["ops"][2]["operands"], ["topk:0"])
        for first, second in (("cpu", "other"), ("other", "cpu"), ("cpu", "cpu")):
            placement = {name: first if i % 2 else second for i, name in enumerate(graph.op_names())}
            self.assert_equal_results(model(x), tutti.apply(model, placement, DEVICES, inputs=x, output_device="cpu")(x))

    def test_flags_that_are_given_choose_the_branch_and_are_the_only_ones_that_fit(self):
        class Kind(enum.Enum):
            UP = 1
            DOWN = 2

        class Flags(models.Mlp):
            def forward(self, x, mask=None, again=False, kind=Kind.UP, how="plain"):
                x = super().forward(x) if kind is Kind.UP else x * 2
                if mask is not None:
                    x = x + mask
                return self.down(self.up(x)) if again and how == "plain" else x
        model, x = Flags(), torch.randn(2, 8)
        for given in ((x, None), (x, None, True), (x, None, False, Kind.DOWN), (x, x, True, Kind.UP, "plain")):
            graph = tutti.capture(model, given)
            plan = tutti.Plan(placement=dict.fromkeys(graph.op_names(), "cpu"), priority={}, graph=graph)
            self.assert_equal_results(tutti.apply(model, plan)(*given), model(*given))
        for given in ((x, x, True, Kind.UP, "other"), (x, x, False, Kind.UP, "plain"), (x, x)):
            with self.assertRaisesRegex(tutti.TuttiError, "argument 'again' is not True|argument 'how' is not 'plain'"):
                tutti.apply(model, plan)(*given)
        by_name = tutti.apply(model, dict.fromkeys(tutti.capture(model, x).op_names(), "cpu"), inputs={"x": x, "mask": None})
        self.assert_equal_results(by_name(x), model(x))
        self.assert_equal_results(by_name(x=x, mask=None), model(x))

    def test_a_module_whose_weight_is_made_by_a_hook_is_placed(self):
        model, x = torch.nn.Sequential(torch.nn.utils.weight_norm(torch.nn.Linear(8, 8))), torch.randn(2, 8)
        graph = tutti.measure(model, x, DEVICES, repeats=1)
        placed = tutti.apply(model, dict.fromkeys(graph.op_names(), "other"), DEVICES, inputs=x)
        self.assert_equal_results(placed(x), model(x))

    def test_a_value_is_moved_once_to_each_device(self):
        model = models.Everything().eval()
        graph = tutti.capture(model, torch.randn(4, 8))
        for seed in range(1, 6):
            plan = tutti.plan(graph, machine=machine(), policy="random", seed=seed)
            placed = tutti.apply(model, plan, DEVICES)
            moves = [node for node in placed.graph.nodes if node.target is move]
            for node in placed.graph.nodes:
                mine = [made for made in moves if made.args[0] is node]
                self.assertLessEqual(len(mine), len(DEVICES), placed.code)

    def test_nothing_moves_but_the_input_if_all_is_on_one_device(self):
        model, x = models.Mlp(), torch.randn(2, 8)
        placed = tutti.apply(model, dict.fromkeys(["up", "relu", "down", "add"], "other"), DEVICES, inputs=x)
        moves = [node for node in placed.graph.nodes if node.target is move]
        self.assertEqual([node.args[0].name for node in moves], ["x"])

    def test_weights_that_stay_are_shared_with_the_model(self):
        model, x = models.Mlp(), torch.randn(2, 8)
        placed = tutti.apply(model, dict.fromkeys(["up", "relu", "down", "add"], "cpu"), DEVICES, inputs=x)
        self.assertIs(placed.get_submodule("up__on__cpu").weight, model.up.weight)

    def test_ops_are_asked_for_by_priority(self):
        model, x = models.Everything().eval(), torch.randn(4, 8)
        graph = tutti.capture(model, x)
        names = graph.op_names()
        plan = tutti.Plan(placement=dict.fromkeys(names, "cpu"), priority={name: -i for i, name in enumerate(names)},
                          graph=graph)
        placed = tutti.apply(model, plan, DEVICES)
        order = [node.name for node in placed.graph.nodes]
        self.assertLess(order.index("arange"), order.index("linear__on__cpu"))
        self.assert_equal_results(model(x), placed(x))

    def test_a_plan_read_from_a_file_needs_the_inputs(self):
        model, x = models.Mlp(), torch.randn(2, 8)
        plan = tutti.plan(tutti.capture(model, x), machine=machine(), policy="round_robin")
        plan.graph = None
        with self.assertRaisesRegex(tutti.TuttiError, "inputs"):
            tutti.apply(model, plan, DEVICES)
        self.assert_equal_results(model(x), tutti.apply(model, plan, DEVICES, inputs=x)(x))

    def test_gradients_reach_the_weights(self):
        model, x = models.Mlp(), torch.randn(2, 8)
        placement = {"up": "cpu", "relu": "other", "down": "other", "add": "cpu"}
        tutti.apply(model, placement, DEVICES, inputs=x)(x).sum().backward()
        self.assertIsNotNone(model.up.weight.grad)

    def test_a_plan_of_another_model_is_refused(self):
        with self.assertRaisesRegex(tutti.TuttiError, "op 'sideways'"):
            tutti.apply(models.Mlp(), {"sideways": "cpu"}, DEVICES, inputs=torch.zeros(2, 8))

    def test_a_plan_that_leaves_out_an_op_is_refused(self):
        with self.assertRaisesRegex(tutti.TuttiError, "op 'down'"):
            tutti.apply(models.Mlp(), {"up": "cpu", "relu": "cpu", "add": "cpu"}, DEVICES, inputs=torch.zeros(2, 8))

    def test_a_device_without_a_meaning_is_named(self):
        with self.assertRaisesRegex(tutti.TuttiError, "device 'gpu0'"):
            tutti.apply(models.Mlp(), dict.fromkeys(["up", "relu", "down", "add"], "gpu0"), DEVICES,
                        inputs=torch.zeros(2, 8))


if __name__ == "__main__":
    unittest.main()
