"""What people do with models while they are dispatched: change weights, call from threads, copy, save, keep state."""

import copy
import gc
import io
import pickle
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

import tutti
from tests.support import needs_torch, torch
from tutti.binary import TuttiError

if torch is not None:
    from torch import nn
    from tests import offload_models as models
    from tests.offload_support import alternates, cores, dispatched, plan_by, streams
    from tutti.offload import homes
    from tutti.offload.fake import FakeBackend, Placed

    class CountsCalls(nn.Module):
        """Its own buffers are read and changed above the units."""

        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([models.Block(32) for _ in range(4)])
            self.register_buffer("steps", torch.zeros(1))
            self.register_buffer("mean", torch.zeros(32))

        def forward(self, x):
            self.steps += 1
            self.mean = 0.5 * self.mean + x.mean(0)
            for layer in self.layers:
                x = layer(x)
            return x + self.mean * self.steps

    class GrowsMask(nn.Module):
        """Replaces its buffer by one of another shape when the input is longer."""

        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(32, 32)
            self.register_buffer("mask", torch.ones(4, 1), persistent=False)

        def forward(self, x):
            if len(x) > len(self.mask):
                self.mask = torch.ones(len(x), 1, device=x.device)
            return self.linear(x) * self.mask[:len(x)]

    class Remembers(nn.Module):
        """Keeps what it computed, in an attribute and in a list."""

        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(32, 32)
            self.seen = []

        def forward(self, x):
            self.last = self.linear(x)
            self.seen.append(self.last.sum())
            return self.last


def forward(model, x):
    with torch.no_grad():
        return model(x)


def chain_of(kind):
    return nn.Sequential(*[kind() for _ in range(4)])


@needs_torch
class State(unittest.TestCase):
    """What a model keeps from call to call is kept, wherever it is computed."""

    def setUp(self):
        torch.manual_seed(9)
        self.x = torch.randn(3, 32)

    def test_of_modules_above_units_is_kept_at_home(self):
        model = CountsCalls()
        plain = copy.deepcopy(model)
        for where in (streams, alternates, cores):
            dispatched(model, plan_by(model, where, self.x))
            model.load_state_dict(plain.state_dict())
            for _ in range(3):
                self.assertTrue(torch.equal(forward(model, self.x), forward(plain, self.x)))
            for name, tensor in plain.state_dict().items():
                self.assertTrue(torch.equal(model.state_dict()[name], tensor), name)
            tutti.undispatch(model)
            self.assertTrue(torch.equal(forward(model, self.x), forward(plain, self.x)))

    def test_buffers_that_grow_may_grow(self):
        for where in (streams, alternates, cores):
            model, longer = chain_of(GrowsMask), torch.randn(7, 32)
            plain = copy.deepcopy(model)
            dispatched(model, plan_by(model, where, self.x))
            for x in (self.x, longer, self.x, torch.randn(9, 32)):
                self.assertTrue(torch.equal(forward(model, x), forward(plain, x)))
            self.assertFalse(any(type(t) is Placed for t in [*model.parameters(), *model.buffers()]))
            tutti.undispatch(model)
            self.assertTrue(torch.equal(forward(model, longer), forward(plain, longer)))

    def test_attributes_of_an_earlier_call_may_be_overwritten_or_taken_away(self):
        model = chain_of(Remembers)
        want = [forward(model, self.x), forward(model, self.x[:2])]
        dispatched(model, plan_by(model, alternates, self.x))
        for _ in range(2):
            self.assertTrue(torch.equal(forward(model, self.x), want[0]))
            self.assertTrue(torch.equal(forward(model, self.x[:2]), want[1]))
            for module in model:
                module.seen.clear()
        del model[1].last
        self.assertTrue(torch.equal(forward(model, self.x), want[0]))

    def test_statistics_of_training_are_kept_and_read_when_it_ends(self):
        for where in (streams, alternates, cores):
            model = nn.Sequential(*[nn.Sequential(nn.Linear(32, 32), nn.BatchNorm1d(32)) for _ in range(4)])
            plain = copy.deepcopy(model)
            dispatched(model, plan_by(model, where, self.x, kept=["1"]))
            model.load_state_dict(plain.state_dict())
            for training in (False, True, True, False, False):
                model.train(training)
                plain.train(training)
                self.assertTrue(torch.equal(forward(model, self.x), forward(plain, self.x)))
            for name, tensor in plain.state_dict().items():
                self.assertTrue(torch.equal(model.state_dict()[name], tensor), name)

    def test_values_that_were_moved_are_not_held_until_the_pass_ends(self):
        model = models.Chain(layers=30)
        dispatched(model, plan_by(model, alternates, self.x))
        runner, held = model._tutti_state.runner, []
        runner.trace = lambda event, label: held.append(sum(len(mover.moved) for mover in runner._movers.values()))
        forward(model, self.x)
        self.assertLess(max(held), 6)


@needs_torch
class Changes(unittest.TestCase):
    """Weights that are changed while the model is dispatched count in the next call."""

    def setUp(self):
        torch.manual_seed(9)
        self.model, self.x = models.Chain(), torch.randn(3, 32)
        dispatched(self.model, plan_by(self.model, alternates, self.x, kept=["layers.0"]))
        forward(self.model, self.x)

    def test_by_new_data(self):
        for parameter in self.model.parameters():
            parameter.data = parameter.data * 0
        self.assertEqual(forward(self.model, self.x).abs().sum(), 0)
        tutti.undispatch(self.model)
        self.assertEqual(forward(self.model, self.x).abs().sum(), 0)

    def test_of_an_inner_layer_alone_by_new_data_or_another_parameter(self):
        for where, kept in ((streams, ["layers.0"]), (streams, ()), (alternates, ())):
            for change in (lambda layer: setattr(layer.weight, "data", torch.randn(32, 128)),
                           lambda layer: setattr(layer, "weight", nn.Parameter(torch.randn(32, 128)))):
                model = models.Chain()
                dispatched(model, plan_by(model, where, self.x, kept=kept))
                forward(model, self.x)
                change(model.layers[0].down)
                got = [forward(model, self.x) for _ in range(2)]
                tutti.undispatch(model)
                want = forward(model, self.x)
                self.assertTrue(torch.equal(got[0], want) and torch.equal(got[1], want))

    def test_by_other_parameters(self):
        for module in self.model.modules():
            for name, parameter in list(module._parameters.items()):
                setattr(module, name, nn.Parameter(torch.zeros_like(parameter)))
        new = self.model.last.weight
        self.assertEqual(forward(self.model, self.x).abs().sum(), 0)
        self.assertIs(self.model.last.weight, new)
        tutti.undispatch(self.model)
        self.assertIs(self.model.last.weight, new)
        self.assertEqual(forward(self.model, self.x).abs().sum(), 0)

    def test_by_another_type_is_refused_by_name(self):
        self.model.double()
        with self.assertRaisesRegex(TuttiError, r"weight '[a-z0-9.]+' has another type.*undispatch\(model\) first"):
            forward(self.model, self.x.double())
        tutti.undispatch(self.model)
        self.assertEqual(forward(self.model, self.x.double()).dtype, torch.float64)

    def test_of_weight_norm_whose_weight_is_made_by_a_hook(self):
        model = nn.Sequential(*[nn.utils.weight_norm(nn.Linear(32, 32)) for _ in range(4)])
        dispatched(model, plan_by(model, streams, self.x))
        forward(model, self.x)
        with torch.no_grad():
            for module in model:
                module.weight_g.mul_(2)
        got = [forward(model, self.x) for _ in range(2)]
        tutti.undispatch(model)
        self.assertTrue(torch.allclose(got[0], forward(model, self.x)))
        self.assertTrue(torch.equal(*got))


    def test_of_units_whose_own_weight_is_made_by_a_hook(self):
        model = nn.Sequential(*[nn.Sequential(nn.utils.weight_norm(nn.Linear(32, 32)),
                                              nn.utils.spectral_norm(nn.Linear(32, 32))) for _ in range(3)]).eval()
        hooks = [dict(module._forward_pre_hooks) for module in model.modules()]
        want = forward(model, self.x)
        for where in (streams, alternates, cores):
            plan = plan_by(model, where, self.x, limit=6000)
            self.assertIn("1.0", plan.unit_names())
            dispatched(model, plan)
            for _ in range(2):
                self.assertTrue(torch.equal(forward(model, self.x), want))
            tutti.undispatch(model)
            self.assertEqual([dict(module._forward_pre_hooks) for module in model.modules()], hooks)
            self.assertTrue(torch.equal(forward(model, self.x), want))


@needs_torch
class Copies(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(9)
        self.model, self.x = models.Chain(), torch.randn(3, 32)

    def test_of_a_dispatched_model_or_its_modules_are_refused(self):
        dispatched(self.model, plan_by(self.model, streams, self.x))
        for part in (self.model, self.model.layers[0]):
            with self.assertRaisesRegex(TuttiError, "cannot be copied; tutti.undispatch"):
                copy.deepcopy(part)
            with self.assertRaisesRegex(TuttiError, "save model.state_dict"):
                torch.save(part, io.BytesIO())
            with self.assertRaisesRegex(TuttiError, "save model.state_dict"):
                pickle.dumps(part)
        tutti.undispatch(self.model)
        self.assertTrue(torch.equal(forward(copy.deepcopy(self.model), self.x), forward(self.model, self.x)))

    def test_of_the_state_dict_are_as_good_as_ever(self):
        dispatched(self.model, plan_by(self.model, alternates, self.x))
        saved = io.BytesIO()
        torch.save(self.model.state_dict(), saved)
        saved.seek(0)
        other = models.Chain()
        other.load_state_dict(torch.load(saved))
        self.assertTrue(torch.equal(forward(other, self.x), forward(self.model, self.x)))


@needs_torch
class Threads(unittest.TestCase):
    def test_that_call_the_model_wait_for_each_other(self):
        torch.manual_seed(9)
        model, inputs = models.Chain(), [torch.randn(3, 32) for _ in range(4)]
        want = [forward(model, x) for x in inputs]
        dispatched(model, plan_by(model, alternates, inputs[0]))
        wrong = []

        def call(i):
            for _ in range(20):
                try:
                    if not torch.equal(forward(model, inputs[i]), want[i]):
                        wrong.append(i)
                except Exception as error:  # told by the test
                    wrong.append(error)
        threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_that_have_waited_while_the_model_was_undispatched_run_it_as_it_is(self):
        model, x = models.Chain(), torch.randn(3, 32)
        want, inner = forward(model, x), forward(model.layers[1], x)
        dispatched(model, plan_by(model, alternates, x))
        forward(model, x)
        waits = model.forward, model.layers[1].forward  # what a waiting thread has entered
        tutti.undispatch(model)
        with torch.no_grad():
            self.assertTrue(torch.equal(waits[0](x), want))
            self.assertTrue(torch.equal(waits[1](x), inner))

    def test_that_the_model_starts_in_its_forward_cannot_call_its_units(self):
        class Forks(models.Chain):
            def forward(self, x):
                got = []

                def run():
                    try:
                        got.append(forward(self.layers[0], x))
                    except TuttiError as error:
                        got.append(error)
                x = self.layers[0](x)
                if self.forks:
                    thread = threading.Thread(target=run)
                    thread.start()
                    thread.join()
                    if isinstance(got[0], TuttiError):
                        raise got[0]
                return self.last(self.layers[1](x))
        model, x = Forks(), torch.randn(3, 32)
        model.forks = False
        dispatched(model, plan_by(model, streams, x))
        model.forks = True
        with self.assertRaisesRegex(TuttiError, "'layers.0'.*by one thread while another runs the model"):
            forward(model, x)


@needs_torch
class Restored(unittest.TestCase):
    """What undispatch gives back."""

    def test_weights_that_shared_their_memory_do_so_again(self):
        model, x = models.Chain(), torch.randn(3, 32)
        model.last.weight.data = model.first.weight.data
        dispatched(model, plan_by(model, streams, x))
        tutti.undispatch(model)
        self.assertEqual(model.last.weight.data_ptr(), model.first.weight.data_ptr())

    def test_weights_are_laid_out_as_before(self):
        model, x = models.Conv().eval().to(memory_format=torch.channels_last), torch.randn(2, 3, 8, 8)
        before = {name: parameter.stride() for name, parameter in model.named_parameters()}
        dispatched(model, plan_by(model, streams, x))
        tutti.undispatch(model)
        self.assertEqual({name: parameter.stride() for name, parameter in model.named_parameters()}, before)


    def test_memory_is_unpinned_even_if_the_model_is_deleted(self):
        class Pins(FakeBackend):
            pinned = []

            def pin(self, flat):
                self.pinned.append(flat.data_ptr())
                return flat

            def unpin(self, flat):
                self.pinned.remove(flat.data_ptr())
        model, x = models.Chain(), torch.randn(3, 32)
        plan = plan_by(model, streams, x)
        tutti.dispatch(model, {0: "1MiB", "cpu": "1GiB"}, plan=plan, backends={0: Pins(1 << 20)}, progress=False)
        forward(model, x)
        self.assertTrue(Pins.pinned)
        del model
        gc.collect()
        self.assertEqual(Pins.pinned, [])


    def test_a_script_may_end_while_weights_are_copied_for_the_next_pass(self):
        script = """
import torch
from tests import offload_models as models
from tests.offload_support import dispatched, plan_by, streams
model, x = models.Chain(width=256), torch.randn(3, 256)
dispatched(model, plan_by(model, streams, x, limit=1 << 22), bytes_per_s=2e7)
with torch.no_grad():
    model(x)
"""
        root = Path(__file__).resolve().parents[1]
        for _ in range(3):
            ended = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=60)
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))


@needs_torch
class Refused(unittest.TestCase):
    """Models that cannot be dispatched are refused with the name of what is in the way, and left as they were."""

    def refused(self, sentence, model, x=None):
        before = {name: set(module.__dict__) for name, module in model.named_modules()}
        with self.assertRaisesRegex(TuttiError, sentence):
            tutti.dispatch(model, {0: "20KiB", "cpu": "1GiB"}, sample=x, backends={0: FakeBackend(20 << 10)}, progress=False,
                           planner="chain")
        self.assertEqual({name: set(module.__dict__) for name, module in model.named_modules()}, before)

    def test_lazy_modules(self):
        self.refused("'0.weight' of a lazy module", nn.Sequential(nn.LazyLinear(32), nn.Linear(32, 32)))

    def test_weights_that_are_not_loaded(self):
        model = models.Chain()
        model.layers[1].register_buffer("table", torch.zeros(4, device="meta"))
        self.refused("buffer 'layers.1.table' is on meta", model)

    def test_quantised_weights(self):
        model = models.Chain()
        model.layers[1].register_buffer("q", torch.quantize_per_tensor(torch.randn(4, 4), 0.1, 0, torch.qint8))
        self.refused("'layers.1.q' is no plain tensor", model, torch.randn(3, 32))

    def test_weights_of_inference_mode(self):
        with torch.inference_mode():
            model = models.Chain()
        self.refused("'scale' was made in inference mode", model, torch.randn(3, 32))

    def test_modules_of_another_model_that_is_dispatched(self):
        first, second = models.Chain(), models.Chain()
        second.layers[2] = first.layers[1]
        x = torch.randn(3, 32)
        want = forward(second, x)
        plan = plan_by(first, streams, x)
        dispatched(first, plan)
        for model in (second, first.layers[1]):
            self.refused("is a part of another model that is dispatched; tutti.undispatch that one first", model, x)
        self.assertTrue(torch.equal(forward(second, x), want))
        tutti.undispatch(first)
        dispatched(second, plan_by(second, streams, x))
        self.assertTrue(torch.equal(forward(second, x), want))

    def test_compiled_modules(self):
        model, x = models.Chain(), torch.randn(3, 32)
        model.layers[2] = torch.jit.trace(model.layers[2], x)
        self.refused("module 'layers.2' is compiled by torch.jit", model, x)

    def test_weights_that_share_a_part_of_their_memory(self):
        for part in (lambda weight: weight[:8], lambda weight: weight.t()):
            model = models.Chain()
            model.layers[1].register_buffer("part", part(model.layers[1].up.weight.data))
            self.refused(r"'layers.1.(part|up.weight)' and 'layers.1.(part|up.weight)' share a part.*clone\(\)", model,
                         torch.randn(3, 32))
        model, flat = models.Chain(), torch.randn(2, 32)  # neighbours in one piece of memory
        model.first.bias.data, model.last.bias.data = flat[0], flat[1]
        dispatched(model, plan_by(model, streams, torch.randn(3, 32)))

    def test_training_of_weights_that_were_frozen(self):
        model, x = models.Chain().requires_grad_(False), torch.randn(3, 32)
        dispatched(model, plan_by(model, streams, x))
        model(x)
        model.requires_grad_(True)
        with self.assertRaisesRegex(TuttiError, "cannot be trained"):
            model(x)


@needs_torch
class Buffers(unittest.TestCase):
    def test_may_have_any_size_that_a_plan_states(self):
        model, x = models.Chain(), torch.randn(3, 32)
        want = forward(model, x)
        for more in (0, 1, 300, 511):
            plan = plan_by(model, alternates, x, buffers=2.0)
            for entry in plan.contents["tokens-3"]["stream_buffer_bytes"]:
                entry["bytes"] += more
            dispatched(model, plan)
            for _ in range(2):
                self.assertTrue(torch.equal(forward(model, x), want))
            tutti.undispatch(model)


@needs_torch
class HostMemory(unittest.TestCase):
    def test_that_the_model_takes_already_is_available_to_it(self):
        lines = {"MemAvailable": 20 << 30, "RssAnon": 50 << 30}
        with mock.patch.object(homes, "_line", lambda path, name: lines[name]):
            self.assertEqual(homes.available_host_bytes(40 << 30), 60 << 30)
            lines["RssAnon"] = 1 << 30  # the weights are mapped from files
            self.assertEqual(homes.available_host_bytes(40 << 30), 21 << 30)


if __name__ == "__main__":
    unittest.main()
