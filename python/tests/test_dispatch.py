"""A dispatched model gives the outputs of the model, whatever its plan."""

import dataclasses
import sys
import unittest

import tutti
from tests.support import needs_torch, torch

if torch is not None:
    from tests import offload_models as models
    from tests.offload_support import alternates, cores, dispatched, plan_by, streams, units_of
    from tutti.offload.moving import map_nested, tensors_of
    from tutti.offload.fake import Placed
    from tutti.tracing import map_tensors


@needs_torch
class Outputs(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)

    def assert_same(self, first, second, exact=True):
        first, second = tensors_of(first), tensors_of(second)
        self.assertEqual(len(first), len(second))
        for one, other in zip(first, second):
            other = other.as_subclass(torch.Tensor)
            self.assertTrue(torch.equal(one, other) if exact else torch.allclose(one, other, atol=1e-5))

    def check(self, model, sample, limit=1 << 20, buffers=2.0, exact=True):
        """Under several placements, three passes each, and undispatched again."""
        args = sample if isinstance(sample, tuple) else (sample,)
        copy = lambda: [value.clone() for value in args]
        with torch.no_grad():
            want = model(*copy())
            for where in (streams, cores, alternates, lambda mode, i, unit: "cpu" if i % 3 == 0 else "gpu0"):
                before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
                plan = plan_by(model, where, tuple(copy()), limit=limit, buffers=buffers)
                backend = dispatched(model, plan)
                for _ in range(3):
                    got = model(*copy())
                    self.assert_same(want, got, exact)
                    self.assertFalse(any(type(t) is Placed for t in _outer(got)))
                self.assertLessEqual(backend.peak, backend.limit)
                for name, tensor in model.state_dict().items():
                    self.assertTrue(torch.equal(tensor, before[name]), name)
                tutti.undispatch(model)
                self.assertEqual(backend.in_use, 0)
                self.assert_same(want, model(*copy()))

    def test_of_a_chain_of_layers(self):
        self.check(models.Chain(), torch.randn(3, 32))

    def test_of_layers_that_are_split(self):
        model = models.Chain()
        units, _ = units_of(model, torch.randn(3, 32), limit=20000)
        self.assertIn("layers.2.up", units.units)
        self.check(model, torch.randn(3, 32), limit=20000)

    def test_of_a_chain_with_a_buffer_for_one_layer_only(self):
        self.check(models.Chain(), torch.randn(3, 32), buffers=1.0)

    def test_of_an_encoder_and_decoder_with_dicts_and_keywords(self):
        self.check(models.EncoderDecoder(), (torch.randn(2, 5, 32), torch.randn(2, 3, 32), torch.randn(1)))

    def test_of_a_weight_that_is_read_by_the_model_above(self):
        self.check(models.TiedByHand(), torch.randint(0, 40, (2, 6)))

    def test_of_tied_modules(self):
        self.check(models.Decoder(tied=True).eval(), torch.randint(0, 50, (2, 6)))

    def test_of_a_module_that_is_called_again_and_again(self):
        self.check(models.Shared(), torch.randn(3, 32))
        self.check(models.Shared(), torch.randn(3, 32), buffers=1.0)

    def test_of_a_module_below_two_parents(self):
        for parents in ({}, {"before": True}, {"after": True}, {"before": True, "after": True}):
            for limit in (1 << 20, 6000):
                self.check(models.TwoParents(**parents), torch.randn(3, 32), limit=limit)

    def test_of_convolutions_with_batch_norm(self):
        self.check(models.Conv().eval(), torch.randn(2, 3, 8, 8))

    def test_of_units_that_change_their_inputs_in_place(self):
        self.check(models.InPlace(), torch.randn(3, 32))

    def test_of_recurrent_layers(self):
        self.check(models.Recurrent(), torch.randn(2, 4, 16))

    def test_of_experts_that_the_router_chooses(self):
        model = models.Decoder(feed_forward=models.Experts).eval()
        passes = lambda model: [model(torch.full((1, 1), word)) for word in range(8)]
        units, modes = units_of(model, passes=passes)
        self.assertIn("layers.0.feed_forward.experts.3", units.units)
        shares = [op.share for op in modes[0].ops if ".experts." in op.name]
        self.assertTrue(0 < min(shares) < 1, shares)
        self.check(model, torch.randint(0, 50, (2, 6)), limit=9000)
        self.check(model, torch.randint(0, 50, (1, 1)), limit=9000, buffers=1.0)

    def test_in_inference_mode(self):
        model, x = models.Chain(), torch.randn(3, 32)
        want = model(x).detach()
        dispatched(model, plan_by(model, alternates, x))
        with torch.inference_mode():
            for _ in range(2):
                self.assertTrue(torch.equal(model(x), want))
        with torch.no_grad():
            self.assertTrue(torch.equal(model(x), want))

    def test_in_inference_mode_have_the_changes_that_units_make_in_place(self):
        class Adds(torch.nn.Module):
            """Its layers change what it was given, and what it made itself."""

            def __init__(self):
                super().__init__()
                self.layers = torch.nn.ModuleList([models.AddsInPlace(32) for _ in range(4)])

            def forward(self, x):
                made = torch.zeros_like(x)
                for layer in self.layers:
                    layer(x, [])
                    layer(made, [])
                return made

        model, x = Adds(), torch.randn(3, 32)
        with torch.no_grad():
            changed = x.clone()
            want = model(changed)
        for where in (streams, cores, alternates):
            dispatched(model, plan_by(model, where, x.clone()))
            for mode in (torch.no_grad, torch.inference_mode):
                for _ in range(2):
                    with mode():
                        given = x.clone()
                        self.assertTrue(torch.equal(model(given), want))
                        self.assertTrue(torch.equal(given, changed))
            tutti.undispatch(model)

    def test_may_be_dataclasses_with_slots(self):
        fields = [("value", torch.Tensor), ("more", object, dataclasses.field(default=None))]
        kinds = [dataclasses.make_dataclass("Made", fields)]
        if sys.version_info >= (3, 10):
            kinds.append(dataclasses.make_dataclass("Made", fields, slots=True))
        for kind in kinds:
            class Returns(models.Chain):
                def forward(self, x):
                    return kind(super().forward(x), {"x": x})
            model, x = Returns(), torch.randn(3, 32)
            with torch.no_grad():
                want = model(x)
                for where in (streams, alternates):
                    dispatched(model, plan_by(model, where, x))
                    got = model(x)
                    self.assertTrue(torch.equal(got.value, want.value))
                    self.assertIsNot(type(got.value), Placed)
                    tutti.undispatch(model)

    def test_of_layers_that_are_given_packed_sequences(self):
        class Packs(models.Recurrent):
            def forward(self, x):
                packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 2]), batch_first=True)
                return torch.nn.utils.rnn.pad_packed_sequence(super().forward(packed), batch_first=True)[0]
        self.check(Packs(), torch.randn(2, 4, 16))

    def test_batch_sizes_of_packed_sequences_stay_in_host_memory(self):
        packed = torch.nn.utils.rnn.pack_padded_sequence(torch.randn(2, 3, 4), torch.tensor([2, 3]), batch_first=True,
                                                         enforce_sorted=False)
        for mapped in (map_nested, map_tensors):
            moved = mapped(packed, lambda tensor: tensor.to("meta"))
            self.assertEqual([part.device.type for part in moved], ["meta", "cpu", "meta", "meta"])

    def test_of_half_precision_keep_their_type(self):
        model, x = models.Chain().to(torch.bfloat16), torch.randn(3, 32).to(torch.bfloat16)
        want = model(x).detach()
        dispatched(model, plan_by(model, alternates, x))
        with torch.no_grad():
            got = model(x)
        self.assertEqual(got.dtype, torch.bfloat16)
        self.assertTrue(torch.equal(got, want))

    def test_on_two_devices(self):
        model, x = models.Decoder().eval(), torch.randint(0, 50, (2, 6))
        with torch.no_grad():
            want = model(x).logits
            place = lambda mode, i, unit: ("gpu0", "cpu", "gpu1")[i % 3]
            found = dispatched(model, plan_by(model, place, x, devices=("gpu0", "gpu1")), devices=2)
            for _ in range(3):
                self.assertTrue(torch.equal(model(x).logits, want))
        self.assertTrue(all(backend.trace for backend in found.values()))

    def test_state_that_units_change_is_kept_at_home(self):
        for where in (streams, cores, alternates):
            torch.manual_seed(1)
            model, x = models.Stateful(), torch.randn(3, 32)
            plain = models.Stateful()
            plain.load_state_dict(model.state_dict())
            dispatched(model, plan_by(model, where, x))
            model.load_state_dict(plain.state_dict())  # the pass that found the units counted too
            with torch.no_grad():
                for _ in range(3):
                    self.assertTrue(torch.equal(model(x), plain(x)))
                tutti.undispatch(model)
                for name, tensor in plain.state_dict().items():
                    self.assertTrue(torch.equal(model.state_dict()[name], tensor), name)
                self.assertTrue(torch.equal(model(x), plain(x)))


@needs_torch
class Generate(unittest.TestCase):
    """Prefill and decode have plans of their own; the cache follows the layers."""

    def setUp(self):
        torch.manual_seed(6)
        self.model = models.Decoder().eval()
        self.ids = torch.randint(0, 50, (2, 7))
        self.passes = lambda model: models.generate(model, self.ids, 3)

    def test_with_a_plan_each_for_prefill_and_decode(self):
        want = models.generate(self.model, self.ids, 8)
        longer = models.generate(self.model, torch.cat([self.ids, self.ids], 1), 8)

        def where(mode, i, unit):
            return alternates(mode, i + (mode.tokens < 4), unit)
        plan = plan_by(self.model, where, passes=self.passes)
        self.assertEqual([mode.name for mode in plan.modes], ["tokens-14", "tokens-2"])
        backend = dispatched(self.model, plan)
        seen = []
        self.model._tutti_state.runner.on_pass = lambda entry, mode: seen.append(mode)
        for _ in range(2):
            got = models.generate(self.model, self.ids, 8)
            self.assertTrue(torch.equal(got[0], want[0]))
            for one, other in zip(got[1], want[1]):
                self.assertTrue(torch.equal(one, other))
        self.assertEqual(seen[:8], ["tokens-14"] + ["tokens-2"] * 7)
        again = models.generate(self.model, torch.cat([self.ids, self.ids], 1), 8)  # a length that was not measured
        self.assertTrue(torch.equal(again[0], longer[0]))
        self.assertLessEqual(backend.peak, backend.limit)

    def test_what_a_plan_keeps_may_differ_between_prefill_and_decode(self):
        want = models.generate(self.model, self.ids, 6)
        plan = plan_by(self.model, streams, passes=self.passes, kept=["layers.1"])
        plan.contents["tokens-2"]["kept_weights"] = [{"memory": "gpu0", "weights": ["weight:layers.3"]}]
        dispatched(self.model, plan)
        for _ in range(2):
            self.assertTrue(torch.equal(models.generate(self.model, self.ids, 6)[0], want[0]))

    def test_a_layers_cache_is_where_the_layer_runs(self):
        plan = plan_by(self.model, alternates, passes=self.passes)
        dispatched(self.model, plan)
        cache = models.Cache()
        with torch.no_grad():
            self.model(self.ids, cache=cache)
            self.model(self.ids[:, :1], cache=cache)
        devices = plan.placements()["tokens-2"].devices
        for i, key in enumerate(cache.keys):
            where = "host" if devices[f"layers.{i}"] == ["cpu"] else "fake:0"
            self.assertEqual(key._where, where)


def _outer(value):
    return [part for part in ([value] if isinstance(value, torch.Tensor) else
                              list(value.values()) if isinstance(value, dict) else
                              list(value) if isinstance(value, tuple) else list(vars(value).values()))
            if isinstance(part, torch.Tensor)]


if __name__ == "__main__":
    unittest.main()
