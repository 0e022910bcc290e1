"""The CUDA backend's own code, with torch.cuda replaced by stand-ins on the CPU: that it calls what there is, in the
right order. What a GPU makes of it is measured by bench/offload.py."""

import contextlib
import tempfile
import unittest
from unittest import mock

import tutti
from tests.support import needs_torch, torch
from tutti.binary import TuttiError

if torch is not None:
    from tests import offload_models as models
    from tests.offload_support import alternates, need, plan_by
    from tutti.offload import cuda


class Event:
    log = []

    def __init__(self, enable_timing=False):
        self.timed = enable_timing
        self.stream = None

    def record(self, stream):
        self.stream = stream
        Event.log.append(("record", stream.name))

    def query(self):
        return True

    def synchronize(self):
        assert self.stream is not None, "an event that was not recorded"

    def elapsed_time(self, other):
        assert self.timed and other.timed
        return 1.0


class Stream:
    def __init__(self, device=None, name="copies"):
        self.name = name

    def wait_event(self, event):
        assert event.stream is not None, "waits for an event that was not recorded: no wait at all"
        Event.log.append(("wait", self.name, event.stream.name))

    def wait_stream(self, other):
        Event.log.append(("wait", self.name, other.name))


class Runtime:
    """cudaHostRegister and its opposite."""

    def __init__(self, code=0):
        self.code = code
        self.registered = []

    def cudaHostRegister(self, pointer, size, flags):
        if self.code == 0:
            self.registered.append(pointer)
        return self.code

    def cudaHostUnregister(self, pointer):
        self.registered.remove(pointer)
        return 0


@contextlib.contextmanager
def stand_ins(runtime):
    compute = Stream(name="compute")
    Event.log = []
    with mock.patch.multiple(
            torch.cuda, is_available=lambda: True, device_count=lambda: 1, Stream=Stream, Event=Event,
            cudart=lambda: runtime, current_stream=lambda device=None: compute, synchronize=lambda device=None: None,
            stream=lambda stream: contextlib.nullcontext(), device=lambda device: contextlib.nullcontext(),
            set_device=lambda device: None), \
            mock.patch.object(cuda, "_device", lambda index: torch.device("cpu")), \
            mock.patch.object(cuda, "_pinned_copy", lambda flat: flat.clone()), \
            mock.patch.object(cuda, "_LEAST_REGISTERED", 4096), \
            mock.patch.object(torch.Tensor, "is_pinned", lambda tensor: False):
        yield


@needs_torch
class Cuda(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.model, self.x = models.Chain(), torch.randn(3, 32)
        with torch.no_grad():
            self.want = self.model(self.x)
        self.runtime = Runtime()

    def run_by(self, plan=None, memory="1GiB", **more):
        tutti.dispatch(self.model, {0: need(plan, self.model) if plan else 100 << 10, "cpu": memory}, plan=plan, progress=False,
                       **more)
        with torch.no_grad():
            for _ in range(3):
                self.assertTrue(torch.equal(self.model(self.x), self.want))

    def test_copies_and_computation_wait_for_each_other(self):
        plan = plan_by(self.model, alternates, self.x)
        with stand_ins(self.runtime):
            self.run_by(plan)
            self.assertIn(("wait", "compute", "copies"), Event.log)
            self.assertIn(("wait", "copies", "compute"), Event.log)
            self.assertTrue(self.runtime.registered)
            tutti.undispatch(self.model)
        self.assertEqual(self.runtime.registered, [])
        self.assertEqual(cuda._PINNED, {})

    def test_a_model_is_measured(self):
        with stand_ins(self.runtime):
            self.run_by(sample=self.x, planner="chain", repeats=2)
            tutti.undispatch(self.model)

    def test_memory_that_cannot_be_pinned_is_staged(self):
        plan = plan_by(self.model, alternates, self.x)
        with stand_ins(Runtime(code=2)):
            self.run_by(plan)
            self.assertIsNotNone(self.model._tutti_state.runner.backends["gpu0"]._stager)
            tutti.undispatch(self.model)
        with stand_ins(self.runtime), tempfile.TemporaryDirectory() as folder:
            self.run_by(plan, memory="30KiB", offload_folder=folder)
            tutti.undispatch(self.model)

    def test_a_device_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(TuttiError, "device 0, but torch finds no CUDA device; call the model as it is"):
            with mock.patch.object(torch.cuda, "is_available", lambda: False):
                tutti.dispatch(self.model, {0: "1GiB"}, sample=self.x)
        with stand_ins(self.runtime), self.assertRaisesRegex(TuttiError, "device 3, but torch finds 1"):
            tutti.dispatch(self.model, {3: "1GiB"}, sample=self.x)


if __name__ == "__main__":
    unittest.main()
