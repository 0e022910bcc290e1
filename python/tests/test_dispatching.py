"""How a dispatched model runs: copies ahead of their use, within the bytes that were given, as the plan says."""

import gc
import json
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import tutti
from tests.support import needs_torch, torch
from tutti.binary import TuttiError

if torch is not None:
    from tests import offload_models as models
    from tests.offload_support import alternates, cores, dispatched, plan_by, streams, units_of
    from tutti.offload import homes
    from tutti.offload.arena import Arena
    from tutti.offload.backend import Region
    from tutti.offload.fake import FakeBackend, Placed
    from tutti.offload.modes import distance
    from tutti.offload.weights import Group, Weight


def forward(model, x):
    with torch.no_grad():
        return model(x)


@needs_torch
class Streams(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(2)
        self.model, self.x = models.Chain(layers=6), torch.randn(3, 32)

    def trace_of(self, passes=2, **plan):
        backend = dispatched(self.model, plan_by(self.model, streams, self.x, **plan), bytes_per_s=2e8)
        self.model._tutti_state.runner.trace = backend.note
        for _ in range(passes):
            forward(self.model, self.x)
        backend.synchronize()
        return [(event, label) for _, event, label in backend.trace]

    def test_the_copy_of_the_next_layer_is_issued_before_this_one_begins(self):
        trace = self.trace_of(buffers=2.0)
        for i in range(5):
            self.assertLess(trace.index(("issue", f"layers.{i + 1}")), trace.index(("end", f"layers.{i}")))

    def test_with_room_for_one_layer_the_copy_is_issued_when_the_layer_has_ended(self):
        trace = self.trace_of(buffers=1.0)
        for i in range(4):
            self.assertGreater(trace.index(("issue", f"layers.{i + 1}")), trace.index(("end", f"layers.{i}")))

    def test_the_next_passs_first_copies_are_issued_when_this_one_ends(self):
        trace = self.trace_of(buffers=2.0)
        first_pass = trace.index(("end", "last"))
        begins = [i for i, entry in enumerate(trace) if entry == ("begin", "first")]
        issued = [i for i, entry in enumerate(trace) if entry == ("issue", "layers.0")]
        self.assertTrue(any(i < begins[1] for i in issued[1:]), trace)
        self.assertGreater(issued[1], trace.index(("end", "layers.4")))
        self.assertLess(first_pass, begins[1])

    def test_every_pass_copies_each_streamed_layer_once(self):
        trace = self.trace_of(passes=3, buffers=2.0)
        for i in range(1, 6):
            self.assertEqual(trace.count(("copied", f"layers.{i}")), 3, i)
        self.assertEqual(trace.count(("copied", "layers.0")), 4)  # for the fourth pass too
        arena = self.model._tutti_state.runner._arenas["gpu0"]
        self.assertEqual(arena.demands, 0)

    def test_kept_layers_are_copied_once_for_all_passes(self):
        trace = self.trace_of(passes=3, kept=["layers.2", "layers.4"])
        self.assertEqual(trace.count(("copied", "weight:layers.2")), 1)
        self.assertNotIn(("copied", "layers.2"), trace)

    def test_the_buffer_and_what_is_kept_take_no_more_than_the_plan_says(self):
        plan = plan_by(self.model, streams, self.x, kept=["layers.2"], buffers=2.0)
        backend = dispatched(self.model, plan)
        for _ in range(3):
            forward(self.model, self.x)
        self.assertEqual(backend.peak, backend.limit)
        self.assertLess(backend.limit, sum(p.numel() * 4 for p in self.model.parameters()) * 0.7)

    def test_a_layer_that_is_called_out_of_order_is_copied_when_it_is_called(self):
        dispatched(self.model, plan_by(self.model, streams, self.x))
        layers = list(self.model.layers)
        self.model.layers._modules.update({str(i): layer for i, layer in enumerate(reversed(layers))})
        with torch.no_grad():
            got = self.model(self.x)
            tutti.undispatch(self.model)
            self.assertTrue(torch.equal(got, self.model(self.x)))

    def test_a_pass_that_fails_leaves_the_next_one_right(self):
        want = forward(self.model, self.x)
        dispatched(self.model, plan_by(self.model, alternates, self.x))
        with self.assertRaises(RuntimeError):
            forward(self.model, torch.randn(3, 31))
        for _ in range(2):
            self.assertTrue(torch.equal(forward(self.model, self.x), want))


@needs_torch
class Fake(unittest.TestCase):
    """The device of the tests finds what a GPU would let pass."""

    def setUp(self):
        self.backend = FakeBackend(4096)
        self.group = Group("weight:w", [Weight("w", torch.randn(8, 8))])
        self.group.gather(torch.empty(self.group.bytes, dtype=torch.uint8))
        self.region = Region(self.backend.allocate(1024, "test"), 0, 1024, ("w",))

    def view(self):
        return self.backend.shown(self.region, self.group.views(self.region.block.flat)[0], True)

    def test_a_weight_cannot_be_read_before_its_copy_ended(self):
        begin = threading.Event()
        self.backend.place(self.region, [self.group], [begin], "w")
        with self.assertRaisesRegex(RuntimeError, "before its copy ended"):
            self.view() @ torch.ones(8)
        begin.set()
        self.backend.wait(self.region.ready)
        self.assertTrue(torch.equal((self.view() @ torch.ones(8)).as_subclass(torch.Tensor),
                                    self.group.weights[0].home @ torch.ones(8)))

    def test_a_weight_cannot_be_read_after_it_was_dropped(self):
        self.backend.wait(self.backend.place(self.region, [self.group], [], "w"))
        view = self.view()
        self.backend.drop(self.region)
        with self.assertRaisesRegex(RuntimeError, "after it was dropped"):
            torch.nn.functional.linear(torch.ones(2, 8), view)

    def test_tensors_of_two_devices_cannot_meet(self):
        here = self.backend.to_device(torch.ones(3))
        with self.assertRaisesRegex(RuntimeError, "one device"):
            here + self.backend.to_host(here)
        self.assertEqual((here * 2)._where, "fake:0")

    def test_a_parameter_in_host_memory_cannot_meet_a_tensor_of_the_device(self):
        here, weight = self.backend.to_device(torch.ones(3)), torch.nn.Parameter(torch.ones(3))
        for work in (lambda: here * weight, lambda: torch.cat([here, weight]), lambda: torch.add(here, other=weight)):
            with self.assertRaisesRegex(RuntimeError, "fake:0 and a parameter in host memory"):
                work()
        self.assertTrue(torch.equal(self.backend.to_host(here) * weight, torch.ones(3)))

    def test_its_memory_has_a_limit(self):
        with self.assertRaisesRegex(TuttiError, "gpu0 has no 4000 bytes left for more"):
            self.backend.allocate(4000, "more")

    def test_a_slow_link_takes_its_time(self):
        import time
        slow = FakeBackend(1 << 20, bytes_per_s=1e7)
        begin = time.perf_counter()
        slow.wait(slow.copy(Region(slow.allocate(1 << 19, "x"), 0, 1 << 19), 0, torch.zeros(1 << 19, dtype=torch.uint8),
                            [], "x"))
        self.assertGreaterEqual(time.perf_counter() - begin, (1 << 19) / 1e7)


@needs_torch
class Plans(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(4)
        self.model, self.x = models.Chain(layers=4), torch.randn(3, 32)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_from(self, path, limit=1 << 20):
        backend = FakeBackend(limit)
        tutti.dispatch(self.model, {0: limit, "cpu": "1GiB"}, plan=path, backends={0: backend}, progress=False)
        self.model._tutti_state.runner.trace = backend.note
        got = forward(self.model, self.x)
        tutti.undispatch(self.model)
        self.assertTrue(torch.equal(got, forward(self.model, self.x)))
        backend.synchronize()
        return {label for _, event, label in backend.trace if event == "copied"}

    def test_changing_the_file_changes_what_runs_where(self):
        plan_by(self.model, streams, self.x).save(self.folder.name)
        self.assertLess({"layers.1", "layers.2"}, self.run_from(self.folder.name))
        path = Path(self.folder.name) / "tokens-3.plan.json"
        content = json.loads(path.read_text())
        for op in content["ops"]:
            if op["op"] == "layers.1":
                op["device"] = "cpu"
        content["kept_weights"] = [{"memory": "gpu0", "weights": ["weight:layers.2"]}]
        path.write_text(json.dumps(content))
        for source in (self.folder.name, path):  # a folder, or the one file
            copied = self.run_from(source)
            self.assertNotIn("layers.1", copied)
            self.assertIn("weight:layers.2", copied)
            self.assertIn("layers.3", copied)

    def test_a_device_map_says_where_weights_are_between_passes(self):
        dispatched(self.model, plan_by(self.model, streams, self.x, kept=["layers.2"]))
        self.assertEqual(tutti.device_map(self.model),
                         {"first": "cpu", "layers.0": "cpu", "layers.1": "cpu", "layers.2": 0, "layers.3": "cpu",
                          "last": "cpu", "scale": 0})
        self.assertEqual(tutti.device_map(self.model.tutti_plan)["layers.2"], 0)

    def test_a_notebook_shows_a_table_and_a_timeline(self):
        plan = plan_by(self.model, alternates, self.x)
        for i, op in enumerate(plan.contents["tokens-3"]["ops"]):
            op.update(start_ns=1000 * i, finish_ns=1000 * i + 900)
        shown = plan._repr_html_()
        self.assertIn("<svg", shown)
        self.assertEqual(shown.count("<rect"), 6)
        self.assertEqual(shown.count("<tr>"), 7)
        self.assertIn("layers.3", str(plan))

    def refused(self, sentence, change, **more):
        plan = plan_by(self.model, streams, self.x)
        change(plan.contents["tokens-3"])
        with self.assertRaisesRegex(TuttiError, sentence):
            dispatched(self.model, plan, **more)
        self.assertNotIn("_tutti_state", self.model.__dict__)
        forward(self.model, self.x)

    def test_plans_that_cannot_be_followed_are_refused_by_name(self):
        def device(content):
            content["ops"][1]["device"] = "gpu7"

        def unknown(content):
            content["ops"][2]["op"] = "layers.9"

        def nested(content):
            content["ops"].append({"op": "layers.0.up", "device": "cpu", "priority": 9})

        def kept(content):
            content["kept_weights"] = [{"memory": "gpu0", "weights": ["weight:sideways"]}]
        self.refused("op 'layers.0' on 'gpu7', but max_memory", device)
        self.refused("op 'layers.9', but the model has no module", unknown)
        self.refused("'layers.0' and 'layers.0.up'", nested)
        with self.assertRaisesRegex(TuttiError, "'weight:sideways'.*no weight"):
            plan = plan_by(self.model, streams, self.x)
            kept(plan.contents["tokens-3"])
            tutti.dispatch(self.model, {0: "1MiB"}, plan=plan, backends={0: FakeBackend(1 << 20)}, progress=False)

    def test_files_that_were_changed_by_hand_are_read_or_refused(self):
        plan_by(self.model, streams, self.x, kept=["layers.1"]).save(self.folder.name)
        paths = {name: Path(self.folder.name) / name for name in ("tokens-3.plan.json", "dispatch.json")}
        before = {name: path.read_text() for name, path in paths.items()}

        def changed(name, keys, value):
            content = json.loads(before[name])
            part = content
            for key in keys[:-1]:
                part = part[key]
            part[keys[-1]] = value
            paths[name].write_text(json.dumps(content))
        for name, sentence, keys, values in (
                ("tokens-3.plan.json", "keeps weights on '(cpu|gpu9)', but max_memory gives only gpu0",
                 ("kept_weights", 0, "memory"), ("cpu", "gpu9")),
                ("tokens-3.plan.json", "is not a plan of tutti", ("kept_weights", 0, "weights"), ("weight:layers.1", [3], None)),
                ("tokens-3.plan.json", "is not a plan of tutti", ("stream_buffer_bytes", 0, "bytes"),
                 (float("inf"), float("nan"), -5, "x")),
                ("tokens-3.plan.json", "is not a plan of tutti", ("ops", 0, "op"), (5, None)),
                ("tokens-3.plan.json", "is not a plan of tutti", ("ops", 0, "device"), (0, None)),
                ("tokens-3.plan.json", "Chain has no module with weights that could be placed", ("ops",), ([],)),
                ("tokens-3.plan.json", "schema_version 99, and this package reads 1 to 4", ("schema_version",), (99,)),
                ("dispatch.json", "does not list the modes", ("modes", 0, "sizes"),
                 ([["x", 0]], [["x", -4]], [["x", "4"]], [[3, 4]], None)),
                ("dispatch.json", "does not list the modes", ("modes", 0, "calls"), ("x", None, float("inf"))),
                ("dispatch.json", "does not list the modes", ("modes", 0, "shares"), (None, [])),
                ("dispatch.json", "does not list the modes", ("modes", 0, "pass_s"), ("x", [])),
                ("dispatch.json", "does not list the modes", ("glue",), (None, "scale", [3])),
                ("dispatch.json", "does not list the modes", ("units",), (None, "layers.0", [3]))):
            for value in values:
                changed(name, keys, value)
                with self.assertRaisesRegex(TuttiError, sentence):
                    self.run_from(self.folder.name)
                self.assertNotIn("_tutti_state", self.model.__dict__)
            paths[name].write_text(before[name])
        changed("tokens-3.plan.json", ("kept_weights",), [{"memory": "gpu0", "weights": [f"weight:layers.{i}"]} for i in (1, 2)])
        self.assertLess({"weight:layers.1", "weight:layers.2"}, self.run_from(self.folder.name))

    def test_a_buffer_that_is_too_small_is_named_with_the_unit(self):
        plan = plan_by(self.model, streams, self.x, buffers=0.5)
        with self.assertRaisesRegex(TuttiError, "streams unit 'layers.0' .* raise stream_buffer_bytes"):
            tutti.dispatch(self.model, {0: "1MiB"}, plan=plan, backends={0: FakeBackend(1 << 20)}, progress=False)

    def test_a_plan_that_takes_more_than_max_memory_is_refused(self):
        plan = plan_by(self.model, streams, self.x, kept=["layers.1", "layers.2"])
        with self.assertRaisesRegex(TuttiError, "needs [0-9]+ bytes on gpu0"):
            tutti.dispatch(self.model, {0: 50000}, plan=plan, backends={0: FakeBackend(1 << 20)}, progress=False)


@needs_torch
class Models(unittest.TestCase):
    """What dispatch does to a model, and what undispatch undoes."""

    def setUp(self):
        torch.manual_seed(4)
        self.model, self.x = models.Decoder(tied=True).eval(), torch.randint(0, 50, (1, 5))

    def test_undispatch_restores_everything(self):
        before = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        objects = dict(self.model.named_parameters())
        modules = {name: dict(module.__dict__) for name, module in self.model.named_modules()}
        dispatched(self.model, plan_by(self.model, alternates, self.x))
        forward(self.model, self.x)
        tutti.undispatch(self.model)
        for name, tensor in self.model.state_dict().items():
            self.assertTrue(torch.equal(tensor, before[name]))
            self.assertEqual(tensor.device.type, "cpu")
        for name, parameter in self.model.named_parameters():
            self.assertIs(parameter, objects[name])
            self.assertTrue(parameter.requires_grad)
        self.assertIs(self.model.head.weight, self.model.embed.weight)
        for name, module in self.model.named_modules():
            self.assertEqual(set(module.__dict__), set(modules[name]))
        self.model(self.x).logits.sum().backward()

    def test_the_state_dict_is_that_of_the_model_while_it_is_dispatched(self):
        before = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        dispatched(self.model, plan_by(self.model, streams, self.x, kept=["layers.1"]))
        forward(self.model, self.x)
        for name, tensor in self.model.state_dict().items():
            self.assertTrue(torch.equal(tensor, before[name]), name)

    def test_weights_that_are_loaded_while_it_is_dispatched_count(self):
        other = models.Decoder(tied=True).eval()
        dispatched(self.model, plan_by(self.model, alternates, self.x, kept=["layers.0"]))
        for _ in range(2):
            forward(self.model, self.x)
        self.model.load_state_dict(other.state_dict())
        for _ in range(2):
            self.assertTrue(torch.equal(forward(self.model, self.x).logits, forward(other, self.x).logits))

    def test_training_is_refused(self):
        dispatched(self.model, plan_by(self.model, streams, self.x))
        with self.assertRaisesRegex(TuttiError, "cannot be trained.*no_grad"):
            self.model(self.x)

    def test_a_model_that_fits_is_moved_and_nothing_else(self):
        backend = FakeBackend(1 << 24)
        tutti.dispatch(self.model, {0: "16MiB"}, sample=self.x, backends={0: backend}, progress=False)
        self.assertEqual([event for _, event, _ in backend.trace], ["moved"])
        self.assertFalse(any("forward" in module.__dict__ for module in self.model.modules()))
        self.assertEqual(tutti.device_map(self.model), {"": 0})
        tutti.undispatch(self.model)

    def test_weights_that_host_memory_cannot_hold_are_mapped_from_a_file(self):
        want = forward(self.model, self.x).logits
        with tempfile.TemporaryDirectory() as folder:
            plan = plan_by(self.model, alternates, self.x)
            dispatched(self.model, plan, max_memory={"cpu": "40KiB"}, offload_folder=folder)
            total = sum(group.bytes for group in self.model._tutti_state.units.groups())
            maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if folder in line]
            self.assertEqual(len(maps), 1)
            begin, end = (int(address, 16) for address in maps[0][0].split("-"))
            self.assertGreater(end - begin, total - (60 << 10))
            self.assertEqual(list(Path(folder).iterdir()), [])  # without a name, so that a killed process leaves nothing
            for _ in range(2):
                self.assertTrue(torch.equal(forward(self.model, self.x).logits, want))
            tutti.undispatch(self.model)
            gc.collect()
            self.assertFalse(any(folder in line for line in Path("/proc/self/maps").read_text().splitlines()))
        self.assertTrue(torch.equal(forward(self.model, self.x).logits, want))

    def test_a_folder_that_cannot_hold_the_file_is_named(self):
        with self.assertRaisesRegex(TuttiError, "/nowhere.*offload_folder"):
            dispatched(self.model, plan_by(self.model, streams, self.x), max_memory={"cpu": "1KiB"},
                       offload_folder="/nowhere")
        forward(self.model, self.x)

    def test_bad_arguments_are_refused_with_a_remedy(self):
        backends = {0: FakeBackend(1 << 14)}
        for sentence, memory, more in (
                ("2.5 gigs", {0: "2.5 gigs"}, {}), ("no device any memory", {"cpu": "1GiB"}, {}),
                ("key 'gpu'", {"gpu": "1GiB"}, {}), ("sample=inputs", {0: "10KiB"}, {}),
                ("max_memory is 5", 5, {}), ("max_memory is ..1GiB", ["1GiB"], {}), ("max_memory of 0 is None", {0: None}, {}),
                ("call the model as it is", {"cpu": "1GiB"}, {}), ("repeats is 0", {0: "10KiB"}, {"repeats": 0}),
                ("plan is a int; give a folder", {0: "10KiB"}, {"plan": 5}),
                ("plan is a Plan; give a folder", {0: "10KiB"}, {"plan": tutti.Plan({}, {})}),
                ("planner is 'best'", {0: "10KiB"}, {"planner": "best"}),
                ("passes is a function", {0: "10KiB"}, {"passes": 3})):
            with self.assertRaisesRegex(TuttiError, sentence):
                tutti.dispatch(self.model, memory, backends=backends, progress=False, **more)
        with self.assertRaisesRegex(TuttiError, "not dispatched"):
            tutti.undispatch(self.model)
        dispatched(self.model, plan_by(self.model, streams, self.x))
        with self.assertRaisesRegex(TuttiError, "undispatch"):
            tutti.dispatch(self.model, {0: "1GiB"}, sample=self.x)

    def test_calls_belong_to_the_mode_of_the_nearest_size(self):
        prefill, decode = (("ids", 512), ("mask", 512)), (("ids", 1), ("mask", 513))
        self.assertLess(distance((("ids", 1), ("mask", 900)), decode), distance((("ids", 1), ("mask", 900)), prefill))
        self.assertLess(distance((("ids", 300), ("mask", 300)), prefill), distance((("ids", 300), ("mask", 300)), decode))


if __name__ == "__main__":
    unittest.main()
