"""Mixtures of experts: those that are used most are kept, others come when the router chooses them."""

import unittest

import tutti
from tests.support import needs_torch, torch
from tutti.binary import TuttiError

if torch is not None:
    from tests import offload_models as models
    from tests.offload_support import alternates, cores, dispatched, plan_by, streams, units_of
    from tutti.offload.fake import FakeBackend


def words(model):
    """One token each, so that not every pass uses every expert."""
    for word in range(6):
        model(torch.full((1, 1), word))


@needs_torch
class Experts(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(8)

    def model(self, experts):
        return models.Decoder(feed_forward=experts, layers=3).eval()

    def check(self, experts, **more):
        model, ids = self.model(experts), torch.randint(0, 50, (2, 5))
        with torch.no_grad():
            want = model(ids).logits
            one = model(ids[:1, :1]).logits
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        for where in (streams, cores, alternates):
            plan = plan_by(model, where, passes=words, **more)
            backend = dispatched(model, plan)
            with torch.no_grad():
                for _ in range(2):
                    self.assertTrue(torch.equal(model(ids).logits, want))
                    self.assertTrue(torch.equal(model(ids[:1, :1]).logits, one))
            for name, tensor in model.state_dict().items():
                self.assertTrue(torch.equal(tensor, before[name]), name)
            self.assertLessEqual(backend.peak, backend.limit)
            tutti.undispatch(model)
            with torch.no_grad():
                self.assertTrue(torch.equal(model(ids).logits, want))
        return model

    def test_in_a_list_are_units(self):
        self.check(models.Experts)

    def test_packed_in_tensors_are_units_if_they_are_taken_one_by_one(self):
        model = self.model(models.PackedExperts)
        units, modes = units_of(model, passes=words)
        for i in range(4):
            self.assertIn(f"layers.1.feed_forward[{i}]", units.units)
        shares = [op.share for op in modes[0].ops if op.unit.startswith("layers.1.feed_forward[")]
        self.assertTrue(0 < min(shares) < 1, shares)
        self.check(models.PackedExperts)
        self.check(models.PackedExperts, buffers=1.0)

    def test_only_the_experts_that_are_chosen_are_copied(self):
        model = self.model(models.PackedExperts)
        backend = dispatched(model, plan_by(model, streams, passes=words, buffers=1.0))
        backend.trace.clear()
        chosen = []
        router = model.layers[1].feed_forward.router
        router.register_forward_hook(lambda _, given, scores: chosen.extend(
            torch.topk(scores.as_subclass(torch.Tensor), 2)[1].flatten().tolist()))
        with torch.no_grad():
            model(torch.full((1, 1), 3))
        backend.synchronize()
        copied = {label for _, event, label in backend.trace if event == "copied" and "layers.1.feed_forward[" in label}
        self.assertEqual(copied, {f"layers.1.feed_forward[{i}]" for i in chosen})

    def test_that_are_kept_are_not_copied(self):
        model = self.model(models.PackedExperts)
        hot = [f"layers.1.feed_forward[{i}]" for i in range(4)]
        units, modes = units_of(model, passes=words)
        hot = [name for name in hot if name in {op.unit for op in modes[0].ops}]
        backend = dispatched(model, plan_by(model, streams, passes=words, kept=hot))
        with torch.no_grad():
            model(torch.full((1, 1), 3))
            backend.trace.clear()
            model(torch.full((1, 1), 3))
        backend.synchronize()
        copied = {label for _, event, label in backend.trace if event == "copied"}
        self.assertFalse(copied & set(hot))
        self.assertEqual({name for name in tutti.device_map(model) if "feed_forward" in name and "router" not in name},
                         {f"layers.{i}.feed_forward" for i in range(3)})
        self.assertTrue(any("layers.2.feed_forward[" in label for label in copied))

    def test_that_are_used_as_a_whole_are_one_unit(self):
        model = self.model(models.GroupedExperts)
        units, _ = units_of(model, passes=words)
        self.assertFalse(any("[" in name for name in units.units))
        self.check(models.GroupedExperts)

    def test_that_turn_out_to_be_used_as_a_whole_are_refused_by_name(self):
        model = self.model(models.PackedExperts)
        dispatched(model, plan_by(model, streams, passes=words))
        model.layers[0].feed_forward.whole = True
        with torch.no_grad(), self.assertRaisesRegex(TuttiError, "'layers.0.feed_forward.up' is used as a whole"):
            model(torch.full((1, 1), 3))

    def test_that_write_into_what_they_are_given_are_read_there(self):
        class Writes(models.PackedExperts):
            def forward(self, x):
                flat = x.reshape(-1, x.shape[-1])
                chosen = torch.argmax(self.router(flat), -1)
                out = torch.zeros_like(flat)
                for expert in torch.unique(chosen):
                    rows, = torch.where(chosen == expert)
                    inner = flat.new_empty(len(rows), self.up.shape[1])
                    torch.mm(flat[rows], self.up[expert].t(), out=inner)
                    made = torch.ones_like(flat[rows])
                    made.add_(inner @ self.down[expert].T).mul_(self.down[expert].sum())
                    out[rows] = made
                return out.reshape(x.shape)
        self.check(Writes)

    def test_whose_slices_are_taken_of_another_form_are_one_unit(self):
        class Whole(models.PackedExperts):
            shape = staticmethod(lambda tensor: tensor.data)

            def forward(self, x):
                flat = x.reshape(-1, x.shape[-1])
                chosen = torch.argmax(self.router(flat), -1)
                out = torch.zeros_like(flat)
                for expert in torch.unique(chosen):
                    rows, = torch.where(chosen == expert)
                    inner = torch.relu(flat[rows] @ self.shape(self.up)[expert].reshape(self.up.shape[2], -1))
                    out[rows] = inner @ self.down[expert].reshape(self.up.shape[1], -1)
                return out.reshape(x.shape)

        class Turned(Whole):
            shape = staticmethod(lambda tensor: tensor.mT)
        for kind in (Whole, Turned):
            self.assertFalse(any("[" in name for name in units_of(self.model(kind), passes=words)[0].units))
            self.check(kind)
        Whole.shape = staticmethod(lambda tensor: tensor)
        model = self.model(Whole)
        dispatched(model, plan_by(model, streams, passes=words))
        Whole.shape = staticmethod(lambda tensor: tensor.data)
        with torch.no_grad(), self.assertRaisesRegex(TuttiError, r"'layers.0.feed_forward.up' is used as a whole \(data\)"):
            model(torch.full((1, 1), 3))

    def test_are_measured_and_planned(self):
        for experts in (models.Experts, models.PackedExperts):
            model = self.model(experts)
            ids = torch.randint(0, 50, (1, 4))
            with torch.no_grad():
                want = model(ids).logits
            total = sum(p.numel() * 4 for p in model.parameters())
            backend = FakeBackend(total // 2)
            tutti.dispatch(model, {0: total // 2, "cpu": "1GiB"}, passes=words, backends={0: backend}, progress=False,
                           planner="chain", repeats=2)
            used = [op for op in model.tutti_plan.modes[0].ops if "feed_forward" in op.unit and op.share < 1]
            self.assertTrue(used)
            self.assertTrue(all(op.cores_s > 0 for op in used))
            with torch.no_grad():
                self.assertTrue(torch.equal(model(ids).logits, want))
            self.assertLessEqual(backend.peak, backend.limit)


if __name__ == "__main__":
    unittest.main()
